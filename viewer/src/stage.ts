// The picture: renderer, lights, background. A frame is drawn only where something changes.

import * as THREE from "three";
import { Cameras } from "./camera.ts";
import { Ground } from "./ground.ts";
import type { Vector } from "./types.ts";

/** Whether WebGL runs on the processor: then quality is lowered while the picture moves. */
function isSoftware(gl: WebGL2RenderingContext): boolean {
  const extension = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(extension ? extension.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

const SLOW = 36; // milliseconds between two pictures, above which fewer pixels are drawn
const VERY_SLOW = 100; // above which that is decided after a few pictures
const QUICK = 20; // below which more are drawn
const LONG_PAUSE = 600; // milliseconds between pictures that do not follow each other
const LEAST_RATIO = 0.5;
const FIRST_PIXELS = 200_000; // of the first pictures that move, until their pace is known

/** A triangle behind everything whose colour changes from the bottom to the top of the picture. */
function backdrop(): THREE.Mesh<THREE.BufferGeometry, THREE.ShaderMaterial> {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute([-1, -1, 0, 3, -1, 0, -1, 3, 0], 3));
  const material = new THREE.ShaderMaterial({
    vertexShader: "varying float height; void main() { height = 0.5 * position.y + 0.5; gl_Position = vec4(position.xy, 1.0, 1.0); }",
    fragmentShader: "uniform vec3 top; uniform vec3 bottom; varying float height; void main() { gl_FragColor = vec4(mix(bottom, top, height), 1.0); }",
    uniforms: { top: { value: new THREE.Vector3(1, 1, 1) }, bottom: { value: new THREE.Vector3(1, 1, 1) } },
    depthTest: false,
    depthWrite: false,
    clipping: false,
  });
  const mesh = new THREE.Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.renderOrder = -1000;
  return mesh;
}

export class Stage {
  readonly scene = new THREE.Scene();
  readonly renderer: THREE.WebGLRenderer;
  readonly cameras: Cameras;
  readonly ground = new Ground();
  readonly software: boolean;
  /** Drawn before every picture. */
  beforeDraw: () => void = () => undefined;
  afterDraw: () => void = () => undefined;
  private readonly sun = new THREE.DirectionalLight("#ffffff", 2.1);
  private readonly fill = new THREE.DirectionalLight("#dfe8ff", 0.55);
  private readonly sky = new THREE.HemisphereLight("#ffffff", "#aab2bf", 1.45);
  private readonly backdrop = backdrop();
  /** How many pictures were drawn. */
  drawn = 0;
  private wanted = false;
  private moving = false;
  private calm: ReturnType<typeof setTimeout> | undefined;
  private ratio = 1;
  private sharp = true;
  private coarseRatio = 1; // of pixels while the picture moves in software rendering
  private pace = { last: 0, mean: 0, count: 0 };
  private observer: ResizeObserver;

  /** Fails where the browser has no WebGL. */
  constructor(
    readonly host: HTMLElement,
    up: Vector,
    readonly heavy: boolean,
  ) {
    const canvas = document.createElement("canvas");
    const probe = canvas.getContext("webgl2", { antialias: false });
    if (!probe) throw new Error("this browser offers no WebGL 2");
    this.software = isSoftware(probe);
    probe.getExtension("WEBGL_lose_context")?.loseContext();
    this.renderer = new THREE.WebGLRenderer({ antialias: !this.software && !heavy, powerPreference: "high-performance" });
    this.renderer.domElement.className = "canvas";
    this.renderer.domElement.tabIndex = 0;
    this.renderer.domElement.setAttribute("aria-label", "Scene: drag to turn, wheel to zoom, right button to shift");
    this.host.append(this.renderer.domElement);
    this.renderer.domElement.addEventListener("webglcontextrestored", () => this.request());
    this.renderer.shadowMap.enabled = !heavy;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.cameras = new Cameras(this.renderer.domElement, up, () => this.request(true));
    this.addLights();
    this.scene.add(this.backdrop, this.ground.group);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(host);
    this.resize();
    const pixels = Math.max(1, host.clientWidth * host.clientHeight);
    this.coarseRatio = Math.min(1, Math.max(LEAST_RATIO, Math.sqrt(FIRST_PIXELS / pixels)));
  }

  /** Whether data with this axis that points up can be shown here, too. */
  suits(up: Vector, heavy: boolean): boolean {
    return this.heavy === heavy && this.cameras.up.distanceTo(new THREE.Vector3(...up).normalize()) < 1e-9;
  }

  private addLights(): void {
    this.sun.castShadow = !this.heavy;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 5;
    this.sun.shadow.bias = -5e-4;
    this.scene.add(this.sun, this.sun.target, this.fill, this.sky);
    this.sky.position.copy(this.cameras.up);
  }

  /** Directs lights and ground at the extent of the mechanism. */
  illuminate(centre: THREE.Vector3, radius: number, height: number, travel = radius): void {
    const { up } = this.cameras;
    const side = Math.abs(up.y) > 0.9 ? new THREE.Vector3(0.5, 0, 0.8) : new THREE.Vector3(0.45, -0.75, 0);
    this.sun.position.copy(centre).addScaledVector(up, 2.4 * radius).addScaledVector(side, 1.6 * radius);
    this.sun.target.position.copy(centre);
    this.fill.position.copy(side).multiplyScalar(-1).addScaledVector(up, 0.3);
    const camera = this.sun.shadow.camera;
    const reach = 1.5 * radius;
    camera.left = camera.bottom = -reach;
    camera.right = camera.top = reach;
    camera.near = 0.05 * radius;
    camera.far = 7 * radius;
    camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.004 * radius;
    this.ground.lay(up, centre, height, radius, travel);
  }

  setTheme(dark: boolean): void {
    const colours = dark ? [0x262c36, 0x12151a] : [0xf7f9fc, 0xdde3ec];
    const write = (vector: THREE.Vector3, hex: number): THREE.Vector3 => vector.set((hex >> 16) / 255, ((hex >> 8) & 255) / 255, (hex & 255) / 255);
    write(this.backdrop.material.uniforms.top.value, colours[0]);
    write(this.backdrop.material.uniforms.bottom.value, colours[1]);
    this.ground.setColour(dark ? "#7f8b9c" : "#76828f", dark ? 0.42 : 0.2);
    this.sky.intensity = dark ? 1.15 : 1.5;
    this.sun.intensity = dark ? 1.9 : 2.1;
    this.request();
  }

  private resize(): void {
    const width = Math.max(1, this.host.clientWidth);
    const height = Math.max(1, this.host.clientHeight);
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.setSize(width, height);
    this.cameras.resize(width / height);
    this.request();
  }

  private setRatio(ratio: number): void {
    if (ratio === this.ratio) return;
    this.ratio = ratio;
    this.renderer.setPixelRatio(ratio);
  }

  /** Asks for a picture. While things move, slow machines draw coarsely; the last picture is sharp. */
  request(moving = this.moving): void {
    const rest = Math.min(2, Math.max(devicePixelRatio || 1, this.software ? 1.5 : 1));
    const coarse = moving && this.software;
    this.sharp = !coarse;
    this.setRatio(coarse ? this.coarseRatio : this.heavy && this.software ? 1 : rest);
    clearTimeout(this.calm);
    if (coarse && !this.moving) this.calm = setTimeout(() => this.request(false), 220);
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame(() => {
      if (!this.wanted) return;
      this.draw();
    });
  }

  setMoving(moving: boolean): void {
    this.moving = moving;
    this.pace = { last: performance.now(), mean: 0, count: 0 };
    this.request();
  }

  /** Whether the picture is drawn coarsely now. */
  get isCoarse(): boolean {
    return !this.sharp;
  }

  /** Measures how long pictures take while things move, and draws fewer pixels where that is too long. */
  private keepPace(): void {
    const { pace } = this;
    const now = performance.now();
    const passed = now - pace.last;
    pace.last = now;
    if (this.sharp || (passed > LONG_PAUSE && !this.moving)) return;
    pace.mean += (passed - pace.mean) / Math.min(++pace.count, 10);
    if (pace.count < (pace.mean > VERY_SLOW ? 3 : 10) || (pace.mean > QUICK && pace.mean < SLOW)) return;
    this.coarseRatio = pace.mean > SLOW ? Math.max(LEAST_RATIO, 0.8 * this.coarseRatio) : Math.min(1, 1.1 * this.coarseRatio);
    pace.count = pace.mean = 0;
    this.setRatio(this.coarseRatio);
  }

  /** Draws now. */
  draw(): void {
    this.wanted = false;
    this.drawn++;
    this.keepPace();
    this.beforeDraw();
    this.sun.castShadow = !this.heavy && (this.sharp || !this.software);
    this.ground.catcher.visible = this.sun.castShadow;
    this.renderer.render(this.scene, this.cameras.active);
    this.afterDraw();
  }

  setClip(plane: THREE.Plane | null): void {
    this.renderer.clippingPlanes = plane ? [plane] : [];
    this.request();
  }

  /** A picture of the scene, of the given size or as it is. */
  async picture(width?: number, height?: number): Promise<Blob> {
    const { renderer } = this;
    const size = renderer.getSize(new THREE.Vector2());
    const ratio = renderer.getPixelRatio();
    this.sharp = true;
    if (width && height) {
      renderer.setPixelRatio(1);
      renderer.setSize(width, height, false);
      this.cameras.resize(width / height);
    }
    this.draw();
    const copy = document.createElement("canvas");
    copy.width = renderer.domElement.width;
    copy.height = renderer.domElement.height;
    copy.getContext("2d")?.drawImage(renderer.domElement, 0, 0);
    if (width && height) {
      renderer.setPixelRatio(ratio);
      renderer.setSize(size.x, size.y);
      this.cameras.resize(size.x / size.y);
      this.draw();
    }
    return new Promise((resolve, reject) => copy.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"));
  }

  dispose(): void {
    clearTimeout(this.calm);
    this.observer.disconnect();
    this.cameras.dispose();
    this.renderer.dispose();
    this.renderer.domElement.remove();
  }
}
