/** The facts of an outcome beside its output. */
import type { FinishReason } from "../data/FinishReason.ts"
import type { EndedBy } from "../errors/Limit.ts"
import type { LeftCall } from "../tool/Late.ts"

/** The finish reason of the output, the limit at which the run has answered, and the deferred calls that go on. */
interface Marks {
  readonly finish?: FinishReason | undefined
  readonly endedBy?: EndedBy | undefined
  readonly left?: ReadonlyArray<LeftCall> | undefined
}

/** The facts that are present. */
export const markOf = ({ endedBy, finish, left }: Marks) => ({
  ...(finish === undefined ? {} : { finish }),
  ...(endedBy === undefined ? {} : { endedBy }),
  ...(left === undefined ? {} : { open: left })
})
