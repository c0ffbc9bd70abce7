/** How the table of families is written down, and how a model is found in it. */
import type { Facts } from "./Capabilities.ts"
import { familyOf } from "./Family.ts"

/** Facts of one page. */
export interface Claim {
  /** The address of the page. */
  readonly source: string
  /** The day on which it was read, as `2026-11-26`. */
  readonly seen: string
  /** Set if the page is not the provider's: a report, a guide, or the source of another library. */
  readonly isReported?: true
  readonly facts: Facts
}

/** Models that take the same requests. */
export interface Family {
  readonly name: string
  /** Names without date and suffix, of which a last `*` stands for any rest. */
  readonly models: ReadonlyArray<string>
  readonly claims: ReadonlyArray<Claim>
}

/** Models that end on one day. */
export interface Ended {
  readonly models: ReadonlyArray<string>
  /** The day, as `2026-12-01`. */
  readonly on: string
  /** What the provider names in their place; absent if no page was found that says it. */
  readonly use?: string | undefined
  readonly source: string
  readonly seen: string
  /** Set if the page is not the provider's: a report, or the source of another library. */
  readonly isReported?: true
}

/** What is known of one provider's models. A function, so that a program has only the data of its providers. */
export type Catalog = () => {
  readonly families: ReadonlyArray<Family>
  readonly ended: ReadonlyArray<Ended>
}

export const family = (name: string, models: string, claims: ReadonlyArray<Claim>): Family => ({
  name,
  models: models.split(" "),
  claims
})

/** On which day models end, and what comes in their place. */
export type End = readonly [on: string, models: string, use?: string]

export const ended = (source: string, seen: string, ...[on, models, use]: End): Ended => ({
  models: models.split(" "),
  on,
  use,
  source,
  seen
})

/** When a model reasons: whether without being asked, and whether that can be switched off. */
interface When {
  readonly reasoningByDefault: boolean
  readonly reasoningOff: boolean
}

export const always: When = { reasoningByDefault: true, reasoningOff: false }
/** Unless it is switched off. */
export const byDefault: When = { reasoningByDefault: true, reasoningOff: true }
export const asked: When = { reasoningByDefault: false, reasoningOff: true }
/** If asked; the word that switches it off is refused. */
export const notOff: When = { reasoningByDefault: false, reasoningOff: false }
export const never: When = notOff

/** Reasons by these efforts, and by no budget. */
export const by = (efforts: string, when: When) => ({ budgets: false, efforts: efforts.split(" "), ...when })

/** Reasons by budgets, and by no effort. */
export const byBudget = (when: When) => ({ budgets: true, efforts: [], ...when })

const isNamed = (models: ReadonlyArray<string>, name: string): boolean =>
  models.some((model) => (model.endsWith("*") ? name.startsWith(model.slice(0, -1)) : name === model))

/** The family of a model, and when its provider ends it. */
export const find = (
  catalog: Catalog,
  model: string
): { readonly family: Family | undefined; readonly end: Ended | undefined } => {
  const { ended, families } = catalog()
  const name = familyOf(model)
  // a name with its date or stage comes before the names that are the same without
  const exact = model.trim().toLowerCase().split("/").at(-1) ?? ""
  const family =
    families.find(({ models }) => models.includes(exact)) ?? families.find(({ models }) => isNamed(models, name))
  const end = elsewhere.test(model) ? undefined : ended.find(({ models }) => isNamed(models, name))
  return { family, end }
}

/** Names that Claude has on Bedrock and Google Cloud, which end models on days of their own. */
const elsewhere = /anthropic\.|@/
