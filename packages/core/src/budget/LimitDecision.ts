/** What a run does about a limit that it has reached: `Budget.stop`, `Budget.extend` and `Budget.checkpoint` are such decisions. */
export type LimitDecision =
  | { readonly kind: "stop" }
  | { readonly kind: "extend"; readonly limit: number }
  | { readonly kind: "checkpoint" }
