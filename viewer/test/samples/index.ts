// All samples by name.

import type { ViewData } from "../../src/types.ts";
import { doublePendulum } from "./double_pendulum.ts";

export const SAMPLES: Record<string, () => ViewData> = { double_pendulum: doublePendulum };
