/** The verdicts of a call as the data that a final error keeps of them. */
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import type * as Trail from "../errors/Trail.ts"
import type { VerdictRecord } from "./Node.ts"

export const trailOf = (verdicts: ReadonlyArray<VerdictRecord>): Trail.Trail =>
  verdicts.map(({ error, ...verdict }) => ({ ...verdict, message: Redaction.foreign(ErrorCause.sayingOf(error)) }))
