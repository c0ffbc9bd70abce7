/** What an outcome says of its output. */
import type { FinishReason } from "../data/FinishReason.ts"
import type { EndedBy } from "../errors/Limit.ts"

/** How the reply ended that is the output, and at which limit the run has answered. */
interface Marks {
  readonly finish?: FinishReason | undefined
  readonly endedBy?: EndedBy | undefined
}

/** Only the marks that are there. */
export const markOf = ({ endedBy, finish }: Marks) => ({
  ...(finish === undefined ? {} : { finish }),
  ...(endedBy === undefined ? {} : { endedBy })
})
