import assert from "node:assert/strict";
import { test } from "node:test";
import * as THREE from "three";
import { tangent, turnBetween } from "../src/paths.ts";

const Y = new THREE.Vector3(0, 1, 0);

test("the straight part of a rope touches both pulleys", () => {
  for (const [r, s] of [[0.1, 0.25], [0.1, -0.25], [0, 0.3], [-0.2, -0.2]]) {
    const [a, b, t] = [new THREE.Vector3(0.1, 0, 0.2), new THREE.Vector3(0.9, 0, -0.1), new THREE.Vector3()];
    assert.ok(tangent(a, b, Y, s - r, t));
    assert.ok(Math.abs(t.length() - 1) < 1e-12);
    const m = t.clone().cross(Y); // from the centre to where the rope leaves, times the signed radius
    const from = a.clone().addScaledVector(m, r);
    const to = b.clone().addScaledVector(m, s);
    assert.ok(to.sub(from).cross(t).length() < 1e-12);
  }
  assert.ok(!tangent(new THREE.Vector3(), new THREE.Vector3(0.1, 0, 0), Y, 0.3, new THREE.Vector3()));
});

test("angles of wrap are from 0 to a whole turn", () => {
  const at = (angle: number) => new THREE.Vector3(Math.sin(angle), 0, Math.cos(angle));
  for (const [angle, turn] of [[0, 0], [1, 1], [3, 3], [5, 5], [-1e-9, 0], [-0.5, 2 * Math.PI - 0.5]]) assert.ok(Math.abs(turnBetween(at(0.3), at(0.3 + angle), Y) - turn) < 1e-8);
});
