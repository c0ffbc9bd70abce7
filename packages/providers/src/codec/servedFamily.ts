/** Finds out which model wrote a reply if the server may fall back to another model. */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Json from "../transport/Json.ts"
import { familyOf } from "./Family.ts"

/**
 * The models to which a server may fall back, by the fields of a body: OpenRouter's `models`, or Anthropic's `fallbacks`, which may leave
 * the choice to the server (openrouter.ai/docs/guides/routing/model-fallbacks and
 * platform.claude.com/docs/en/build-with-claude/refusals-and-fallback, looked up on 2026-11-26).
 */
export const fallbacksIn = (fields: Readonly<Record<string, Schema.Json>> | undefined): Schema.Json | undefined =>
  fields?.["models"] ?? fields?.["fallbacks"]

/**
 * Whether a name is that of a router, such as OpenRouter's or Azure's: it chooses a model for each request and names it in the reply
 * (openrouter.ai/docs/guides/routing/routers/overview and learn.microsoft.com/azure/foundry/model-router/quickstart, looked up on
 * 2026-11-26).
 */
export const isRouter = (model: string): boolean => /^openrouter\/|^(?:auto|model-router)$/i.test(model.trim())

/**
 * The family of the model that replied. It is that of the model in the reply, if this is one of `others`; if not, the family that was asked
 * for.
 */
export const servedFamily = (asked: string, served: string | undefined, others: Schema.Json | undefined): string => {
  if (served === undefined || others === undefined) return asked
  const family = familyOf(served)
  if (!Array.isArray(others)) return family
  const names = others.map((other) => Json.text(Predicate.isString(other) ? other : Json.field(other, "model")) ?? "")
  return names.some((name) => familyOf(name) === family) ? family : asked
}
