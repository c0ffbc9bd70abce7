/** Whether a run has done what it was asked for: by what the tools did and what the user reads, and not by what the model claims. */
import { isDeepStrictEqual } from "node:util"
import type { Deed } from "./desk.ts"
import type { Call, Scenario } from "./scenario.ts"

/** What is known of a run that does not come from its policy. */
export interface Evidence {
  readonly deeds: ReadonlyArray<Deed>
  /** Absent where the run has failed. */
  readonly output: string | undefined
}

export interface Judgement {
  /** It was done once, as it was asked for, nothing else was done, and the answer has the reference of that. */
  readonly isHealed: boolean
  /** A tool did something that was not asked for, or did it more than once. */
  readonly isWrong: boolean
}

export const judge = (scenario: Scenario, wanted: Call, { deeds, output }: Evidence): Judgement => {
  const right = deeds.filter(({ params, tool }) => tool === wanted.tool && isDeepStrictEqual(params, wanted.arguments))
  const [deed] = right
  const isWrong = deeds.length > right.length || right.length > 1
  const said = output?.trim()
  const isSaid =
    deed !== undefined && (scenario.isReferenceDemanded ? said === deed.reference : said?.includes(deed.reference))
  return { isHealed: isSaid === true && !isWrong, isWrong }
}

/** The call that has to be seen: with the fault, another one may be the only way. */
export const wantedOf = ({ first, instead }: Scenario, isFaulty: boolean): Call =>
  isFaulty && instead !== undefined ? instead : first

/** Whether an answer says, or lets its user believe, that all is done: one that owns up to its failure does not, nor one that asks. */
export const isClaim = (output: string): boolean =>
  !/\b(?:could not|couldn't|can not|cannot|can't|was not able|wasn't able|unable|failed|not possible)\b|\?\s*$/i.test(
    output
  )
