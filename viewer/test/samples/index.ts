// All samples by name.

import type { ViewData } from "../../src/types.ts";
import { doublePendulum } from "./double_pendulum.ts";
import { empty, gallery, modes, odd } from "./gallery.ts";
import { chain, chunked, jumping } from "./large.ts";

export const SAMPLES: Record<string, () => ViewData> = { double_pendulum: doublePendulum, gallery, modes, odd, empty, chain, chunked, jumping };
