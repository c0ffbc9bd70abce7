/** A failed call about which a person is asked: what the request reads of it, and what a decision does to it. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { canonical } from "../data/Digest.ts"
import * as Message from "../data/Message.ts"
import { ToolDeniedError } from "../errors/ToolError.ts"
import * as Interception from "../model/Interception.ts"
import type { Ask, AskedCall, Fixed, FixRun, Verified } from "../recovery/Node.ts"
import * as Render from "../recovery/Render.ts"
import { asksOf } from "./asks.ts"
import { emitChanges } from "./attempt.ts"
import * as Call from "./call.ts"
import { decodedOf, over, repaired, type ToolCall } from "./callState.ts"
import { checkpointOf } from "./checkpoint.ts"
import { asResult } from "./fixing.ts"
import * as ToolRun from "./run.ts"

/** Asks a person once about a failed call. */
export const ask = (
  self: ToolCall,
  rung: Ask,
  seen: unknown,
  { context, error, unfit, wasAsked }: FixRun
): Effect.Effect<Fixed> => {
  const { entry, site, state } = self
  const { tool } = entry
  const { call, from, key, run } = site
  const decoded = decodedOf(state)
  const hasBegun = state.runs > 0
  const wasCleared = isCleared(self)
  const before = wasAsked && from?.type === "decision" ? from.request : undefined
  const asked: AskedCall = {
    ...asksOf(run, () => hasBegun && !isCleared(self)),
    run,
    decisions: site.decisions,
    isSuspendable: site.isSuspendable,
    isApart: run.isApart === true,
    about: {
      runId: run.runId,
      agent: run.agent,
      tool: tool.name,
      callId: call.id,
      key,
      arguments: decoded?.json ?? state.args
    },
    failed: {
      forModel: Render.labelled(seen, context),
      attempts: context.attempt,
      runs: state.runs,
      sideEffects: tool.sideEffects,
      mayHaveTakenEffect: hasBegun && tool.sideEffects !== "none" && !wasCleared,
      ...(decoded === undefined ? { needsArguments: true } : {}),
      ...(unfit === undefined ? {} : { unfit: Render.messageOf(unfit) })
    },
    error,
    parameters: tool.spec().parameters,
    written: call.arguments,
    failure: tool.failure,
    from: before,
    verify: before === undefined && hasBegun && !wasCleared ? lookUp(self) : undefined,
    wasCleared,
    waiting: (decided) => wait(self, Interception.untilDecided(run, decided)),
    approve: (args) => (args === undefined ? Effect.sync(() => approve(self)) : edit(self, args)),
    answer: (value) => fitting(asResult({ value }, tool, call.id)),
    deny: (reason, text) => deny(self, reason, text),
    suspend: (request, stored) => {
      const waiting = { type: "decision", request, ...(stored === undefined ? {} : { error: stored }) } as const
      const checkpoint = checkpointOf(self, self.state.runs, waiting)
      self.state = over(self.state, { type: "waits", checkpoint })
      return { type: "over" }
    }
  }
  return rung.run(rung, asked)
}

/** Whether it was looked up that the tool has not taken effect. */
const isCleared = ({ state }: ToolCall): boolean => state.type === "Admitted" && state.isCleared

/** The failure of the call stays what is decided about, also where an answer of a person does not fit. */
const fitting = (fixed: Fixed): Fixed => (fixed.type === "failed" ? unfitting(fixed.error) : fixed)

const unfitting = (unfit: unknown): Fixed => ({ type: "not-counted", unfit })

/** If the run ends during the wait, the settlement says that nothing has run. */
const wait = <A>({ site: { slot }, state }: ToolCall, decided: Effect.Effect<A>): Effect.Effect<A> =>
  state.runs > 0
    ? decided
    : Effect.suspend(() => {
        slot.settlement = Message.unapproved
        return Effect.tap(decided, () =>
          Effect.sync(() => {
            slot.settlement = Message.interrupted
          })
        )
      })

/** The decision about these arguments is an approval of them, too. */
const approve = (self: ToolCall): Fixed => {
  const { state } = self
  if (state.type === "Raw" || state.type === "Decoded") {
    self.state = { ...state, edited: canonical(decodedOf(state)?.json ?? state.args) }
  }
  return { type: "repaired" }
}

/** Other arguments pass every gate, but for the approval. */
const edit = (self: ToolCall, args: Schema.Json): Effect.Effect<Fixed> =>
  Call.decode(self.entry.tool, { ...self.site.call, arguments: args }, (read): Effect.Effect<Fixed> => {
    if (Result.isFailure(read)) return Effect.succeed(unfitting(read.failure))
    self.state = repaired(self.state, args, read.success, canonical(read.success.json))
    return Effect.as(emitChanges(self, read.success.changes), { type: "repaired" })
  })

const deny = (self: ToolCall, reason: string, text: string): Fixed => {
  const { entry, site, state } = self
  const error = ToolDeniedError.make({ tool: entry.tool.name, callId: site.call.id, reason })
  self.state = over(state, { type: "denied", error, ...(state.runs > 0 ? { text } : {}) })
  return { type: "over" }
}

/** Of an unsafe tool that has begun: what its `verify` says. */
const lookUp = (self: ToolCall): Effect.Effect<Verified> | undefined => {
  const { entry, site, state } = self
  const { sideEffects, timeout, verify } = entry.tool
  if (sideEffects !== "unsafe" || verify === undefined) return undefined
  const context = { callId: site.call.id, idempotencyKey: site.key }
  const cut = { tool: entry.tool, context, keep: self }
  const found = ToolRun.lookUp(cut, verify, timeout, () => Effect.succeed(undefined))
  return Effect.match(found, {
    onFailure: (error): Verified => ({ unknown: error instanceof ToolRun.Unverifiable ? error.why : String(error) }),
    onSuccess: (value): Verified => {
      if (value instanceof ToolRun.Found) return { found: value.value }
      if (state.type === "Admitted") self.state = { ...state, isCleared: true, isUncertain: false }
      return "no-effect"
    }
  })
}
