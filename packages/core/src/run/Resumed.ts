/** How a run goes on from a snapshot or a transcript. */
import * as Effect from "effect/Effect"
import * as Budget from "../budget/Budget.ts"
import type { Meter } from "../budget/Meter.ts"
import * as Message from "../data/Message.ts"
import type { LateCheckpoint, Snapshot } from "../event/Checkpoint.ts"
import { Inbox } from "../event/Inbox.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Render from "../recovery/Render.ts"
import type { ToolDefinition } from "../tool/ToolDefinition.ts"
import { answeredBy, headed } from "./beginning.ts"
import * as RunBudget from "./budget.ts"
import type { Plan, Said } from "./plan.ts"
import type { End, Heard, Looping, Resumes } from "./running.ts"
import { sayings } from "./Saying.ts"
import { settleAdmitted } from "./settle.ts"
import type { Saying } from "./Start.ts"
import type { RunState } from "./state.ts"
import { read } from "./turn.ts"

export type { Resumes } from "./running.ts"

/** Makes the beginning of a run. Throws on an input that does not fit, and on a snapshot of another agent. */
const begin: Resumes["begin"] = (start, { agent, budget, readInput }, says) => {
  const { from, input: given } = start
  const say = sayings(agent, start.say ?? [])
  const snapshot = "version" in from ? from : undefined
  if (snapshot !== undefined && snapshot.agent !== agent) {
    throw new TypeError(`Agent '${agent}' cannot resume a snapshot of agent '${snapshot.agent}'`)
  }
  // while calls wait, a further input is one of the messages that wait for the next safe point
  const isWaiting = snapshot?.unfinished !== undefined
  const input = isWaiting ? undefined : given
  const heard = [
    ...(snapshot?.inbox ?? []),
    ...(isWaiting && given !== undefined ? [readInput(given)] : []),
    ...say.map(toHear)
  ]
  const latest = isWaiting || say.length === 0 ? undefined : heard.at(-1)
  const before = "version" in from ? from.transcript : from
  const said =
    input !== undefined
      ? readInput(input)
      : latest !== undefined
        ? { message: latest.message, text: Message.textOf(latest.message) }
        : lastOf(before, says, snapshot?.inputIndex)
  const isAdded = input !== undefined
  const all = isAdded ? [...before, said.message] : latest === undefined ? goingOn(before) : before
  const messages = (prompt: string) => (all.some(({ role }) => role === "system") ? [...all] : headed(prompt, all))
  const messagesFor = (prompt: string) =>
    headed(
      prompt,
      all.filter(({ role }) => role !== "system")
    )
  const isNew = input !== undefined || latest !== undefined
  const limits = start.budget && Budget.over(budget, start.budget)
  return { said, from: snapshot, isNew, heard, messages, messagesFor, budget: limits }
}

/** Adds a user message after a stopped answer, because many providers refuse a request that ends with a model's message. */
const goingOn = (before: Message.Transcript): Message.Transcript => {
  const last = before.at(-1)
  return last?.role === "assistant" && (last.incomplete === true || last.withheld === true)
    ? [...before, Message.user(Render.stopped)]
    : before
}

const toHear = ({ message, supersede = false }: Saying): Heard => ({
  message: Message.user(message),
  ...(supersede ? { supersede } : {})
})

/** The last input in the transcript. Later user messages may be the run's own, about an answer that does not fit. */
const lastOf = (transcript: Message.Transcript, says: string | undefined, inputIndex = -1): Said => {
  const candidate = transcript[inputIndex]
  const own = new Set<string | undefined>([says, Render.stopped])
  const isOfUser = (one: Message.Message) =>
    one.role === "user" && !own.has(Message.textOf(one)) && !Message.isWithheld(one)
  // by its role, it is a message of a user
  const last = candidate?.role === "user" ? candidate : transcript.findLast(isOfUser)
  const message = last?.role === "user" ? last : Message.user("")
  return { message, text: Message.textOf(message) }
}

const restoreState: Resumes["restoreState"] = (state, { from }) => {
  if (from === undefined) return
  const { compacted, compactionTurn, made, pins, prepared, sameTool, transcript, unfinished } = from
  if (prepared !== undefined) state.prepared = { choice: prepared }
  if (compactionTurn !== undefined) state.ahead = { turn: compactionTurn, made: 0 }
  state.turn = from.turn
  state.outputsRejected = from.outputsRejected
  state.callsWithToolsOff = from.callsWithToolsOff
  state.history.restore(from.failures)
  state.takeOver({
    compacted: compacted && readInstead(state, transcript, compacted),
    last: sameTool.tool,
    inARow: sameTool.calls,
    made: new Map(made.map(({ digest, times }) => [digest, times])),
    pins: pins && new Map(Object.entries(pins).map(([key, pinned]) => [key, { pinned, shown: pinned }]))
  })
  if (unfinished === undefined) return
  state.take(unfinished.reply)
  state.keys = unfinished.keys
  for (const [index, slot] of state.slots.entries()) {
    const call = unfinished.calls[index]
    if (call === undefined || call.type === "not-begun") continue
    if (call.type === "finished") {
      slot.settlement = call.settlement
      slot.record = call.record
      continue
    }
    // the run looks up the tool later, and learns then whether it is unsafe
    slot.goOn(call, "unsafe")
  }
}

/** The compacted conversation, which the model reads instead of the whole one. */
const readInstead = (
  { messages }: RunState,
  transcript: Message.Transcript,
  { from, head }: NonNullable<Snapshot["compacted"]>
): Array<Message.Message> => {
  const last = transcript[from - 1]
  return [...head, ...messages.slice(last === undefined ? 0 : messages.lastIndexOf(last) + 1)]
}

/** Restores the counts and limits of a run. The limits of a resumption stay as they are given. */
const restore: Resumes["restore"] = ({ beginning: { from }, plan: { work }, run, start }) => {
  if (from === undefined) return
  const { done, ledger, meter, tree } = run
  ledger.restore(from.ledger)
  meter.restore(from.runId, from.spent)
  meter.warnedBefore(from.warned)
  // Mutant `true` survives: a snapshot without these counts has none to restore
  if (from.cappedCalls !== undefined) {
    meter.callCounts.restore(from, (tool, agents) => capOf(toolsOf(work, from.skill), tool, agents))
  }
  done.granted = from.grants
  done.aside = from.putAside
  meter.takeOver(from.limits, start.budget ?? {})
  paid(meter, from)
  for (const digest of from.withdrawn ?? []) tree.inbox?.withdraw(digest)
}

const toolsOf = (work: Plan["work"], skill: string | undefined): ReadonlyArray<ToolDefinition> => {
  const own = work.kind === "choice" ? work.works.get(skill ?? "") : work
  return own?.kind === "loop" ? Array.from(own.toolset.entries.values(), ({ tool }) => tool) : []
}

/** Looks up the cap of a tool. `agents` names the sub-agents in which the tool is, the outermost last. */
const capOf = (tools: ReadonlyArray<ToolDefinition>, tool: string, agents: ReadonlyArray<string>) => {
  const ofAgent = agents
    .slice(0, -1)
    .reduceRight((those, name) => those.flatMap(({ nested }) => (nested?.name === name ? nested.tools() : [])), tools)
  return ofAgent.find(({ callCap }) => callCap?.tool === tool)?.callCap
}

/** Notes that the run's spending already includes that of the sub-agents that are suspended with it. */
const paid = (meter: Meter, { unfinished }: Snapshot): void => {
  // Mutant `["Stryker was here"]` survives: what has no type is no agent
  for (const call of unfinished?.calls ?? []) {
    if (call.type !== "agent") continue
    const { snapshot } = call
    meter.paidFor(snapshot.runId, snapshot.spent)
    paid(meter, snapshot)
  }
}

/** A resumed run reads the messages that came while it was suspended. */
const hear: Resumes["hear"] = (running, next) => {
  const { beginning, plan, run } = running
  // Mutant `false` survives: speed only. An inbox without messages changes nothing
  if (beginning.heard.length === 0) return next()
  return Effect.withFiber((fiber) => {
    const inbox = (run.tree.inbox ??= new Inbox())
    inbox.begin(run, Infinity)
    for (const { id, ...said } of beginning.heard) {
      inbox.add(fiber, run.runId, {
        said: { ...said, id: id ?? RunContext.drawId(fiber) },
        isEmitted: id !== undefined
      })
    }
    inbox.begin(run, plan.budget.maxUnread)
    return next()
  })
}

/** The first step of a resumed run: the answer that its conversation ends with, if it fits, or its unfinished calls. */
const resume: Resumes["resume"] = (running) => {
  const late = running.beginning.from?.late
  return late === undefined ? resumed(running) : resumedLate(running, late)
}

const resumedLate = (running: Looping, late: ReadonlyArray<LateCheckpoint>): Effect.Effect<End, unknown> =>
  Effect.flatMap(
    Effect.forEach(late, (one) => restoreLate(running, one), { discard: true }),
    () => resumed(running)
  )

const restoreLate = ({ run, start, state, toolset }: Looping, late: LateCheckpoint): Effect.Effect<void> => {
  const tool = toolset.entries.get(late.tool)?.tool
  // Mutant `tool?.deferral?.restore(tool, late, run, start.decisions)` survives: a snapshot with another tool of this name is refused before
  const restored = tool?.deferral?.restore?.(tool, late, run, start.decisions)
  return restored === undefined
    ? Effect.die(new TypeError(`Agent '${run.agent}' has no tool '${late.tool}' to go on with`))
    : Effect.map(restored, (call) => void (state.late = call.join(state.late, { type: "deferred", ...late })))
}

const resumed = (running: Looping): Effect.Effect<End, unknown> => {
  const { beginning, run, start, state } = running
  const unfinished = beginning.from?.unfinished
  if (unfinished !== undefined) {
    const { admitted, admittedInARow, reply } = unfinished
    return settleAdmitted(
      running,
      reply,
      unfinished,
      admitted < admittedInARow ? RunBudget.callsExceeded(run) : undefined
    )
  }
  const said = answeredBy(start, beginning.from, state.messages)
  if (said === undefined) return Effect.undefined
  state.partial = said
  return read(running)
}

/** For `Agent.resume`, and for sub-agents that go on with their parent. */
export const resumes: Resumes = { begin, restoreState, restore, hear, resume }
