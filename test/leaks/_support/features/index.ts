/** The features whose uses must leave nothing. */
import type { Feature } from "../measure.ts"
import { composed } from "./composed.ts"
import { durable } from "./durable.ts"
import { foreign } from "./foreign.ts"
import { runs } from "./runs.ts"
import { served } from "./served.ts"
import { stores } from "./stores.ts"
import { waiting } from "./waiting.ts"

export const features: ReadonlyArray<Feature> = [
  ...runs,
  ...composed,
  ...waiting,
  ...stores,
  ...durable,
  ...served,
  ...foreign
]
