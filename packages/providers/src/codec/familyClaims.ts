/** What pages say of families of models, and how it is written down. */
import type { Facts } from "./Capabilities.ts"

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

/** The day on which all pages of this table were read. */
const seen = "2026-11-26"

export const family = (name: string, models: string, ...claims: ReadonlyArray<Claim>): Family => ({
  name,
  models: models.split(" "),
  claims
})

export const page = (source: string, facts: Facts): Claim => ({ source, seen, facts })

export const reported = (source: string, facts: Facts): Claim => ({ ...page(source, facts), isReported: true })

/** Reasons by these efforts, and by no budget. */
export const by = (efforts: string, { byDefault, off }: { readonly byDefault: boolean; readonly off: boolean }) => ({
  budgets: false,
  efforts: efforts.split(" "),
  reasoningByDefault: byDefault,
  reasoningOff: off
})

/** Reasons by budgets, and by no effort. */
export const byBudget = (byDefault: boolean, off: boolean) => ({
  budgets: true,
  efforts: [],
  reasoningByDefault: byDefault,
  reasoningOff: off
})
