// The grid under the mechanism, the axes of the world and the surface that takes shadows.

import * as THREE from "three";

const VERTEX = `
varying vec2 place;
void main() {
  place = position.xy;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

const FRAGMENT = `
uniform vec3 colour;
uniform float cell;
uniform float reach;
varying vec2 place;
float lines(vec2 at, float width) {
  vec2 change = fwidth(at);
  vec2 near = abs(fract(at - 0.5) - 0.5) / max(change, 1e-6);
  float line = 1.0 - min(min(near.x, near.y) / width, 1.0);
  return line * (1.0 - smoothstep(0.25, 0.6, max(change.x, change.y)));
}
void main() {
  float fade = 1.0 - smoothstep(0.25 * reach, reach, length(place));
  float strength = max(0.38 * lines(place / cell, 1.2), 0.75 * lines(place / (5.0 * cell), 1.4));
  float alpha = fade * strength;
  if (alpha < 0.01) discard;
  gl_FragColor = vec4(colour, alpha);
  #include <colorspace_fragment>
}`;

/** The next number 1, 2 or 5 times a power of ten that is not below x. */
export function niceNumber(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  const factor = x / power;
  return (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10) * power;
}

export class Ground {
  readonly group = new THREE.Group();
  readonly grid: THREE.Mesh<THREE.PlaneGeometry, THREE.ShaderMaterial>;
  readonly catcher: THREE.Mesh;
  cell = 1;

  constructor() {
    const material = new THREE.ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthWrite: false,
      side: THREE.DoubleSide,
      uniforms: { colour: { value: new THREE.Color("#8a94a3") }, cell: { value: 1 }, reach: { value: 10 } },
    });
    this.grid = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), material);
    this.catcher = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.ShadowMaterial({ opacity: 0.2 }));
    this.catcher.receiveShadow = true;
    this.grid.renderOrder = 1;
    this.group.add(this.catcher, this.grid);
  }

  /** Puts the grid under a mechanism, normal to `up`. */
  lay(up: THREE.Vector3, centre: THREE.Vector3, height: number, radius: number): void {
    this.cell = niceNumber(radius / 6);
    const reach = Math.max(6 * radius, 10 * this.cell);
    const base = centre.clone().addScaledVector(up, height - centre.dot(up));
    const snap = (value: number): number => Math.round(value / (5 * this.cell)) * 5 * this.cell;
    this.group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
    const local = base.clone().applyQuaternion(this.group.quaternion.clone().invert());
    local.set(snap(local.x), snap(local.y), local.z);
    this.group.position.copy(local.applyQuaternion(this.group.quaternion));
    this.grid.geometry.dispose();
    this.grid.geometry = new THREE.PlaneGeometry(2 * reach, 2 * reach);
    this.grid.position.z = -1e-4 * radius;
    this.catcher.position.z = -3e-3 * radius;
    this.catcher.scale.set(2 * reach, 2 * reach, 1);
    this.grid.material.uniforms.cell.value = this.cell;
    this.grid.material.uniforms.reach.value = reach;
  }

  setColour(colour: string, shade: number): void {
    this.grid.material.uniforms.colour.value.set(colour);
    (this.catcher.material as THREE.ShadowMaterial).opacity = shade;
  }
}
