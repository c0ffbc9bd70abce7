/** Converts the verdicts of a call to the trail that its final error carries. */
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import type * as Trail from "../errors/Trail.ts"
import type { VerdictRecord } from "./Node.ts"

export const trailOf = (verdicts: ReadonlyArray<VerdictRecord>): Trail.Trail =>
  verdicts.map(({ error, ...verdict }) => ({ ...verdict, message: Redaction.foreign(ErrorCause.sayingOf(error)) }))
