/** The decisions of a call as the data that a final error keeps of them. */
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import type * as Trail from "../errors/Trail.ts"
import type { Decision } from "./Node.ts"

export const trailOf = (decisions: ReadonlyArray<Decision>): Trail.Trail =>
  decisions.map(({ error, ...decision }) => ({ ...decision, message: Redaction.foreign(ErrorCause.sayingOf(error)) }))
