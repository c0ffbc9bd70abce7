/** Whoever decides about tool calls that need approval, while the run waits. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Approval from "../data/Approval.ts"

/** What the service does: it gives a decision for each request. */
export interface Service {
  /** A failure to decide is one for whoever decides: the run waits as long as this does, within its own time. */
  readonly decide: (request: Approval.Request) => Effect.Effect<Approval.Decision>
}

/** The service that agents with such tools ask for in `R`. */
export class Approver extends Context.Service<Approver, Service>()("@kintsugi/core/Approver") {}

/** An approver that is one function. */
export const layer = (decide: Service["decide"]): Layer.Layer<Approver> => Layer.succeed(Approver, { decide })
