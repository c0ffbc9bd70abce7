/**
 * Finds the incidents of recordings. An incident is all failures with one error tag of one request, call or answer, from the first to its
 * end. A failure without a verdict is an incident too: no row was there for it. So is the failure of an outermost run that no other incident explains.
 *
 * An incident of the transport or of a model call is healed if the model answers. An incident of a tool call is healed if the call ends
 * with a result. After a tell, it is healed by a later call of the same tool with a result, in the same run. The last verdict on the tag
 * gets the credit, unless it gave up: then the failure was lost, even if the run goes on. An incident that is unresolved when its run ends
 * badly, or when the events end, is not healed.
 *
 * @internal
 */
import { type Row, rowFor } from "./Advice.ts"
import { causesOf } from "./cause.ts"
import { tagOf } from "./ErrorWords.ts"
import { amountAt, fieldOf, flagAt, numberAt, textAt } from "./Fields.ts"
import type { Recorded } from "./Recorded.ts"

/** Stands for a verdict where none was given. */
export const noVerdict = "none"

/** An incident with its end: the failures of one request, call or answer with one error tag. */
export interface Incident {
  /**
   * The layer that failed: `transport`, `model`, `tool` or `effect`. It is `output` for an answer that did not fit its schema, and `run` for
   * a failure of the run itself.
   */
  readonly layer: string
  readonly tag: string
  readonly agent: string
  /** The name of the tool that failed; `undefined` if no tool failed. */
  readonly tool: string | undefined
  /** How many attempts failed with this tag. */
  readonly failures: number
  /** The kind of the last verdict: `none` without one, and `output-retry` for an answer that did not fit. */
  readonly verdict: string
  /** Whether the rung of the last verdict gave up. */
  readonly gaveUp: boolean
  /** Whether the failure was told to the model, which was then called again. */
  readonly byModel: boolean
  readonly isHealed: boolean
  /** Whether the model has read about the failure as the result of its call. */
  readonly wasRead: boolean
  /** The time from the first failure to the end of the incident, in milliseconds. */
  readonly millis: number
  /** The known cost of its failed attempts and its fixers, in US dollars. */
  readonly cost: number
  /** How many of these attempts have no known cost. */
  readonly unpriced: number
  /** The row that would have gone on, if no verdict was given. */
  readonly row: Row | undefined
}

/** A tool call with at least one failure, and whether it was healed. */
export interface Trouble {
  readonly tool: string
  readonly isHealed: boolean
}

/** The incidents and the failed tool calls of a recording. */
export interface Found {
  readonly incidents: ReadonlyArray<Incident>
  readonly troubles: ReadonlyArray<Trouble>
}

/** An incident that has no end yet. */
interface Unresolved {
  readonly layer: string
  readonly tag: string
  readonly tool: string | undefined
  readonly agent: string
  readonly from: number
  readonly error: unknown
  readonly sideEffects: string | undefined
  readonly attempts: Set<number>
  verdict: string
  gaveUp: boolean
  cost: number
  unpriced: number
}

/** A failure, and what is said about it. */
type Said = Pick<
  Unresolved,
  "layer" | "tag" | "tool" | "verdict" | "gaveUp" | "agent" | "from" | "error" | "sideEffects"
> & {
  readonly attempt: number
}

/** A tool call whose failure was told to the model, with its incidents. */
interface FailedCall {
  readonly tool: string
  readonly incidents: ReadonlyArray<Unresolved>
}

/** The incidents of one run that have no end yet. */
interface Run {
  /** The incidents of the current model call, by layer and tag. */
  readonly byModelCall: Map<string, Unresolved>
  /** The incidents of tool calls, by call id, then by layer and tag. */
  readonly calls: Map<string, Map<string, Unresolved>>
  /** The names of the tools of failed calls, by call id. A call is here even if no verdict followed. */
  readonly failed: Map<string, string>
  /** The calls whose failure was told to the model, by the name of the tool. */
  readonly failedByTool: Map<string, Array<FailedCall>>
  /** The incidents without a call: of recovery around an effect, and of answers that did not fit. */
  readonly rest: Map<string, Unresolved>
  /** The failures about which no verdict has come yet: of calls by their id, and of the model call by the empty text. */
  readonly undecided: Map<string, Said>
  /** What a second run of a tool would do, by call id. */
  readonly effects: Map<string, string>
  /** The cost of the model call's failed attempts, until its incident has begun. */
  readonly paid: { cost: number; unpriced: number }
  /** The tags of incidents that were not healed. */
  readonly lost: Set<string>
}

/** Finds the incidents in these events, which are in order. */
export const find = (events: Iterable<Recorded>): Found => {
  const runs = new Map<string, Run>()
  const incidents: Array<Incident> = []
  const troubles: Array<Trouble> = []

  /** The time of the event that is read. */
  let now = 0
  /** The errors of failed runs, by the run that has started them. */
  const failedParts = new Map<string, Set<string>>()

  const close = (run: Run, unresolved: Iterable<Unresolved>, wentOn: boolean, byModel = false, wasRead = byModel) => {
    for (const { attempts, error, from, sideEffects, ...said } of unresolved) {
      const isHealed = wentOn && (byModel || !(said.gaveUp || surrenders.has(said.verdict)))
      if (!isHealed) run.lost.add(said.tag)
      const { layer, verdict } = said
      const isBare = verdict === noVerdict && (layer === "model" || layer === "tool")
      const row = isBare ? rowFor({ layer, error, sideEffects, hasRetried: false }) : undefined
      incidents.push({
        ...said,
        failures: attempts.size,
        byModel,
        wasRead,
        isHealed,
        millis: Math.max(0, now - from),
        row
      })
    }
  }
  const closeCalls = (run: Run, all: Iterable<FailedCall>, isHealed: boolean) => {
    for (const { incidents, tool } of all) {
      close(run, incidents, isHealed, isHealed, true)
      troubles.push({ tool, isHealed })
    }
  }
  const closeRun = (run: Run, isHealed: boolean) => {
    for (const callId of run.undecided.keys()) decideNot(run, callId)
    close(run, run.byModelCall.values(), isHealed)
    run.byModelCall.clear()
    close(run, run.rest.values(), isHealed)
    run.rest.clear()
    for (const unresolved of run.calls.values()) close(run, unresolved.values(), false)
    run.calls.clear()
    for (const tool of run.failed.values()) troubles.push({ tool, isHealed: false })
    run.failed.clear()
    for (const failedCalls of run.failedByTool.values()) closeCalls(run, failedCalls, false)
    run.failedByTool.clear()
  }
  const endCall = (run: Run, callId: string, tool: string, isResult: boolean) => {
    decideNot(run, callId)
    const unresolved = [...(run.calls.get(callId)?.values() ?? [])]
    run.calls.delete(callId)
    const isTrouble = run.failed.delete(callId) || unresolved.length > 0
    if (isResult) {
      close(run, unresolved, true)
      if (isTrouble) troubles.push({ tool, isHealed: true })
      closeCalls(run, run.failedByTool.get(tool) ?? [], true)
      run.failedByTool.delete(tool)
    } else run.failedByTool.set(tool, [...(run.failedByTool.get(tool) ?? []), { tool, incidents: unresolved }])
  }

  for (const event of events) {
    now = event.at
    const run = runs.get(event.runId) ?? blank()
    runs.set(event.runId, run)
    const callId = textAt(event, "callId")
    const tool = textAt(event, "tool")
    pay(runs, run, event)
    switch (event.type) {
      case "verdict": {
        const layer = textAt(event, "layer") ?? "effect"
        // the verdict is about the failure before it
        if (layer === "model") run.undecided.delete("")
        else if (callId !== undefined) run.undecided.delete(callId)
        note(run, layer, callId, event)
        break
      }
      case "output-rejected": {
        const gaveUp = fieldOf(event, "message") === undefined
        const attempt = (run.rest.get("output")?.attempts.size ?? 0) + 1
        const tag = "InvalidOutputError"
        add(run.rest, "output", { ...bare(run, "output", event), tag, verdict: "output-retry", gaveUp, attempt })
        break
      }
      case "model-end":
        decideNot(run, "")
        close(run, run.byModelCall.values(), true)
        run.byModelCall.clear()
        break
      case "model-failed":
      case "model-interrupted":
        // failures of the transport are lost now; the layers around it decide about the failed call
        for (const [key, unresolved] of run.byModelCall) {
          if (unresolved.layer !== "transport") continue
          close(run, [unresolved], false)
          run.byModelCall.delete(key)
        }
        decideNot(run, "")
        if (event.type === "model-failed" && event["error"] !== undefined)
          run.undecided.set("", bare(run, "model", event))
        break
      case "tool-start":
        if (callId !== undefined) run.effects.set(callId, textAt(event, "sideEffects") ?? "")
        break
      case "tool-failed":
        if (callId === undefined || tool === undefined) break
        run.failed.set(callId, tool)
        decideNot(run, callId)
        if (event["error"] !== undefined) run.undecided.set(callId, bare(run, "tool", event))
        break
      case "tool-end": {
        const kind = textAt(event, "use", "settlement", "kind")
        if (callId !== undefined && tool !== undefined)
          endCall(run, callId, tool, kind === "result" || kind === "deferred")
        break
      }
      case "run-completed":
        closeRun(run, true)
        break
      case "run-failed": {
        closeRun(run, false)
        const causes = causesOf(fieldOf(event, "error"))
        const parts = failedParts.get(event.runId) ?? new Set()
        const isExplained = [...causes].some((key) => parts.has(key) || run.lost.has(key.slice(0, key.indexOf("\n"))))
        if (event.parent !== undefined) {
          // the failure of a nested run goes on as that of the call, or of the run, that has started it
          const others = failedParts.get(event.parent.runId) ?? new Set()
          if (isExplained) for (const key of causes) others.add(key)
          failedParts.set(event.parent.runId, others)
        } else if (causes.size > 0 && !isExplained) {
          add(run.rest, "run", bare(run, "run", event))
          closeRun(run, false)
        }
        break
      }
      case "run-interrupted":
        closeRun(run, false)
        break
    }
  }
  for (const run of runs.values()) closeRun(run, false)
  return { incidents, troubles }
}

/** The verdicts that give a failure up. The model may still be told of the failure. */
const surrenders: ReadonlySet<string> = new Set(["raise", "rethrow", "escalate"])

const blank = (): Run => ({
  byModelCall: new Map(),
  calls: new Map(),
  failed: new Map(),
  failedByTool: new Map(),
  rest: new Map(),
  undecided: new Map(),
  effects: new Map(),
  paid: { cost: 0, unpriced: 0 },
  lost: new Set()
})

const groupOf = (run: Run, layer: string, callId: string | undefined): Map<string, Unresolved> => {
  if (callId !== undefined) {
    const unresolved = run.calls.get(callId) ?? new Map<string, Unresolved>()
    run.calls.set(callId, unresolved)
    return unresolved
  }
  return layer === "transport" || layer === "model" ? run.byModelCall : run.rest
}

/** The failure of an event, without a verdict. */
const bare = (run: Run, layer: string, event: Recorded): Said => ({
  layer,
  tag: tagOf(fieldOf(event, "error")),
  tool: textAt(event, "tool"),
  agent: event.agent,
  from: event.at,
  error: fieldOf(event, "error"),
  sideEffects: run.effects.get(textAt(event, "callId") ?? ""),
  verdict: noVerdict,
  gaveUp: false,
  attempt: numberAt(event, "attempt") ?? 0
})

/** Makes an incident of a failure about which no verdict has come. The empty id is that of the model call. */
const decideNot = (run: Run, callId: string) => {
  const said = run.undecided.get(callId)
  if (said === undefined) return
  run.undecided.delete(callId)
  start(run, groupOf(run, said.layer, callId === "" ? undefined : callId), said)
}

const note = (run: Run, layer: string, callId: string | undefined, event: Recorded) => {
  const tag = textAt(event, "tag") ?? "unknown"
  const verdict = textAt(event, "verdict") ?? "unknown"
  const tool = callId === undefined ? undefined : textAt(event, "tool")
  const said = { ...bare(run, layer, event), tag, tool, verdict, gaveUp: flagAt(event, "gaveUp") }
  start(run, groupOf(run, layer, callId), said)
}

const start = (run: Run, group: Map<string, Unresolved>, said: Said) => {
  const unresolved = add(group, `${said.layer} ${said.tag}`, said)
  if (said.layer !== "model") return
  unresolved.cost += run.paid.cost
  unresolved.unpriced += run.paid.unpriced
  run.paid.cost = 0
  run.paid.unpriced = 0
}

const add = (group: Map<string, Unresolved>, key: string, { attempt, ...said }: Said): Unresolved => {
  const unresolved = group.get(key) ?? { ...said, attempts: new Set(), cost: 0, unpriced: 0 }
  unresolved.verdict = said.verdict
  unresolved.gaveUp = said.gaveUp
  // several rungs may decide about one failure, so attempts are counted by their number
  unresolved.attempts.add(attempt)
  group.set(key, unresolved)
  return unresolved
}

const attempts: ReadonlySet<string> = new Set(["model-end", "model-failed", "model-interrupted"])

/** Counts what an attempt of a model has cost an incident: a failed attempt of the run itself, or one of a fixer. */
const pay = (runs: ReadonlyMap<string, Run>, run: Run, event: Recorded) => {
  if (!attempts.has(event.type)) return
  const cost = amountAt(event, "entry", "cost")
  const hasUsed = amountAt(event, "entry", "usage", "inputTokens") ?? 0
  // of an attempt without a reply, no usage may mean that no provider has reported it
  const isReported = cost !== undefined && (event.type === "model-end" || hasUsed > 0)
  const callId = event.parent?.callId
  if (textAt(event, "entry", "purpose") === "fixer" && event.parent !== undefined && callId !== undefined) {
    for (const unresolved of runs.get(event.parent.runId)?.calls.get(callId)?.values() ?? []) {
      unresolved.cost += cost ?? 0
      if (!isReported) unresolved.unpriced++
    }
  } else if (event.type === "model-failed") {
    run.paid.cost += cost ?? 0
    if (!isReported) run.paid.unpriced++
  }
}
