/** Who decides about calls that need approval: somebody while the run waits, or what was decided while it was suspended. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Approval from "../data/Approval.ts"
import { Approver } from "../tool/Approver.ts"
import type { Snapshot, Standing } from "../event/Snapshot.ts"
import type { Decide } from "../tool/Toolset.ts"
import type { Start } from "./Start.ts"

export interface Deciders {
  readonly decide: Decide
  /** What somebody was asked about the call with this key before the run was suspended. */
  readonly asked: (key: string) => Approval.Request | undefined
  /** How far that call had come. */
  readonly stood: (key: string) => Standing | undefined
}

/**
 * What was decided while the run was suspended comes first. Else `agent` asks its `Approver` and waits; without one, the run is
 * suspended again.
 */
export const of = (start: Start, from: Snapshot | undefined, agent: string | undefined): Deciders => {
  const now = agent === undefined ? suspending : waiting(agent)
  if (start.kind === "input" || from?.open === undefined) {
    return { decide: now, asked: nothing, stood: nothing }
  }
  const requests = new Map(from.open.requests.map((request) => [request.key, request]))
  const standings = new Map(from.open.standings?.map((standing) => [standing.key, standing]))
  const decisions = new Map(start.resumption.decisions?.map(({ decision, digest }) => [digest, decision]))
  return {
    asked: (key) => requests.get(key),
    stood: (key) => standings.get(key),
    // a request that was changed, or is too old, comes with another digest
    decide: (request) => {
      const decision = decisions.get(request.digest)
      return decision === undefined ? now(request) : Effect.succeed(decision)
    }
  }
}

const nothing = () => undefined

const suspending: Decide = () => Effect.succeed(undefined)

const waiting =
  (agent: string): Decide =>
  (request) =>
    Effect.flatMap(
      Effect.serviceOption(Approver),
      Option.match({
        // without a type that was cast away, this cannot be
        onNone: () =>
          Effect.die(new TypeError(`Agent '${agent}' has a tool that needs an Approver, and there is none`)),
        onSome: ({ decide }) => decide(request)
      })
    )
