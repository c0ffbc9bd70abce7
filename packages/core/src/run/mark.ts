/** What an outcome says of its output. */
import type { FinishReason } from "../data/FinishReason.ts"
import type { EndedBy } from "../errors/Limit.ts"
import type { LeftCall } from "../tool/Late.ts"

/** How the reply ended that is the output, at which limit the run has answered, and which deferred calls it has left at work. */
interface Marks {
  readonly finish?: FinishReason | undefined
  readonly endedBy?: EndedBy | undefined
  readonly left?: ReadonlyArray<LeftCall> | undefined
}

/** Only the marks that are there. */
export const markOf = ({ endedBy, finish, left }: Marks) => ({
  ...(finish === undefined ? {} : { finish }),
  ...(endedBy === undefined ? {} : { endedBy }),
  ...(left === undefined ? {} : { open: left })
})
