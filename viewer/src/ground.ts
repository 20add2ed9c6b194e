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
void main() {
  float distance = length(place) / reach;
  if (distance > 1.0) discard;
  vec2 change = fwidth(place) / cell;
  float widest = max(change.x, change.y);
  if (widest > 3.0) discard;
  vec2 at = place / cell;
  vec2 fine = abs(fract(at - 0.5) - 0.5) / (1.2 * change);
  vec2 wide = abs(fract(0.2 * at - 0.5) - 0.5) / (0.28 * change);
  float strength = max(0.3 * (1.0 - min(min(fine.x, fine.y), 1.0)) * (1.0 - smoothstep(0.25, 0.6, widest)),
                       0.55 * (1.0 - min(min(wide.x, wide.y), 1.0)) * (1.0 - smoothstep(1.2, 3.0, widest)));
  gl_FragColor = vec4(colour, strength * (1.0 - smoothstep(0.25, 1.0, distance)));
}`;

/** The next number 1, 2 or 5 times a power of ten that is not below x. */
export function niceNumber(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  const factor = x / power;
  return (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10) * power;
}

export class Ground {
  readonly group = new THREE.Group();
  readonly grid: THREE.Mesh<THREE.BufferGeometry, THREE.ShaderMaterial>;
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
  lay(up: THREE.Vector3, centre: THREE.Vector3, height: number, radius: number, travel: number): void {
    this.cell = niceNumber(radius / 6);
    const reach = Math.max(5 * radius, 2 * travel, 10 * this.cell);
    const base = centre.clone().addScaledVector(up, height - centre.dot(up));
    const snap = (value: number): number => Math.round(value / (5 * this.cell)) * 5 * this.cell;
    this.group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
    const local = base.clone().applyQuaternion(this.group.quaternion.clone().invert());
    local.set(snap(local.x), snap(local.y), local.z);
    this.group.position.copy(local.applyQuaternion(this.group.quaternion));
    this.grid.geometry.dispose();
    this.grid.geometry = new THREE.CircleGeometry(reach, 40);
    this.grid.position.z = -1e-4 * radius;
    this.catcher.position.z = -3e-3 * radius;
    this.catcher.scale.set(2 * reach, 2 * reach, 1);
    this.grid.material.uniforms.cell.value = this.cell;
    this.grid.material.uniforms.reach.value = reach;
  }

  setColour(colour: string, shade: number): void {
    this.grid.material.uniforms.colour.value.set(colour).convertLinearToSRGB();
    (this.catcher.material as THREE.ShadowMaterial).opacity = shade;
  }
}
