/** Reads the cost that xAI reports on both of its wires. */
import type * as Schema from "effect/Schema"
import * as Json from "../transport/Json.ts"

/**
 * The dollars that xAI charges for a reply (docs.x.ai, "Cost Tracking", looked up on 2026-11-26: 10^10 ticks are a dollar). `undefined` for
 * a zero: Azure reports it, because it charges for Grok itself.
 */
export const dollarsOf = (usage: Schema.Json | undefined): number | undefined => {
  const ticks = Json.count(Json.field(usage, "cost_in_usd_ticks")) ?? 0
  return ticks > 0 ? ticks / 1e10 : undefined
}
