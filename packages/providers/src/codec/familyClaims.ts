/** The form in which the table of model families is written, and the search for a model in it. */
import type { Facts } from "./Capabilities.ts"
import { familyOf } from "./Family.ts"

/** Facts about a family of models, as stated on one page. */
export interface Claim {
  /** The URL of the page that states the facts. */
  readonly source: string
  /** The day on which the page was read, as in `2026-11-26`. */
  readonly seen: string
  /** Set if the page is not the provider's: a report, a guide, or the source of another library. */
  readonly isReported?: true
  readonly facts: Facts
}

/** Models that take the same requests. */
export interface Family {
  readonly name: string
  /** The names of the models, without date and suffix. A `*` at the end of a name stands for any rest. */
  readonly models: ReadonlyArray<string>
  readonly claims: ReadonlyArray<Claim>
}

/** Models that their provider ends on the same day. */
export interface Ended {
  readonly models: ReadonlyArray<string>
  /** The day on which the models end, as in `2026-12-01`. */
  readonly on: string
  /** The model that the provider names as the replacement; absent if no page was found that says it. */
  readonly use?: string | undefined
  readonly source: string
  readonly seen: string
  /** Set if the page is not the provider's: a report, or the source of another library. */
  readonly isReported?: true
}

/** The families and the ended models of one provider. It is a function, so that a program loads only the data of its providers. */
export type Catalog = () => {
  readonly families: ReadonlyArray<Family>
  readonly ended: ReadonlyArray<Ended>
}

export const family = (name: string, models: string, claims: ReadonlyArray<Claim>): Family => ({
  name,
  models: models.split(" "),
  claims
})

/** The day on which models end, the names of the models, and the model in their place. */
export type End = readonly [on: string, models: string, use?: string]

export const ended = (source: string, seen: string, ...[on, models, use]: End): Ended => ({
  models: models.split(" "),
  on,
  use,
  source,
  seen
})

/** When a model reasons: whether by default, and whether that can be switched off. */
interface When {
  readonly reasoningByDefault: boolean
  readonly reasoningOff: boolean
}

export const always: When = { reasoningByDefault: true, reasoningOff: false }
/** The model reasons unless reasoning is switched off. */
export const byDefault: When = { reasoningByDefault: true, reasoningOff: true }
export const asked: When = { reasoningByDefault: false, reasoningOff: true }
/** The model reasons only if asked, and refuses the effort `none`. */
export const notOff: When = { reasoningByDefault: false, reasoningOff: false }
export const never: When = notOff

/** The facts of a model whose reasoning is set by these efforts, and not by a budget. */
export const by = (efforts: string, when: When) => ({ budgets: false, efforts: efforts.split(" "), ...when })

/** The facts of a model whose reasoning is set by a budget, and not by an effort. */
export const byBudget = (when: When) => ({ budgets: true, efforts: [], ...when })

const isNamed = (models: ReadonlyArray<string>, name: string): boolean =>
  models.some((model) => (model.endsWith("*") ? name.startsWith(model.slice(0, -1)) : name === model))

/** Finds the family of a model, and the day on which its provider ends it. */
export const find = (
  catalog: Catalog,
  model: string
): { readonly family: Family | undefined; readonly end: Ended | undefined } => {
  const { ended, families } = catalog()
  const name = familyOf(model)
  // a name with its date or stage is looked up first, because another family may have the same name without it
  // Mutant `"Stryker was here!"` survives: a text that is divided has a last piece
  const exact = model.trim().toLowerCase().split("/").at(-1) ?? ""
  const family =
    families.find(({ models }) => models.includes(exact)) ?? families.find(({ models }) => isNamed(models, name))
  const end = elsewhere.test(model) ? undefined : ended.find(({ models }) => isNamed(models, name))
  return { family, end }
}

/** Matches the names of Claude on Bedrock and Google Cloud, which end models on other days than Anthropic. */
const elsewhere = /anthropic\.|@/
