/**
 * What became of failures: the verdicts about one thing, from its first failure to its end, are one incident for each tag.
 *
 * What a transport or a model table has decided is healed when the model answers; what was decided about a call, when that call ends
 * with a result. A model that was told of an error heals it by calling the same tool again, with a result, in the same run. The last
 * verdict on a tag has the credit, unless it gave up: then the failure was lost, whatever went on without it. Whatever is still open when
 * its run ends badly, or where the events end, is not healed.
 *
 * @internal
 */
import { fieldOf, flagAt, numberAt, textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recording.ts"

/** One kind of failure of one thing, and how it went. */
export interface Incident {
  /** `transport`, `model`, `tool` or `effect`; `output` for an answer that did not fit its schema. */
  readonly layer: string
  readonly tag: string
  /** The tool that failed; absent where none did. */
  readonly tool: string | undefined
  /** Attempts that failed so. */
  readonly failures: number
  /** What was decided last about it; `ask again` for an answer that did not fit. */
  readonly verdict: string
  /** Whether the rung of that verdict gave up. */
  readonly gaveUp: boolean
  /** Whether the model was told, and called again. */
  readonly byModel: boolean
  readonly isHealed: boolean
}

/** A call that did not go well at once. */
export interface Trouble {
  readonly tool: string
  readonly isHealed: boolean
}

/** What all incidents of a recording were. */
export interface Found {
  readonly incidents: ReadonlyArray<Incident>
  readonly troubles: ReadonlyArray<Trouble>
}

/** The verdicts on one tag, while the thing that they are about is at work. */
interface Open {
  readonly layer: string
  readonly tag: string
  readonly tool: string | undefined
  readonly attempts: Set<number>
  verdict: string
  gaveUp: boolean
}

/** A call with failures. */
interface Told {
  readonly tool: string
  readonly incidents: ReadonlyArray<Open>
}

/** One run, with what is open in it. */
interface Run {
  /** By what asks the model. */
  readonly asking: Map<string, Open>
  /** By call, then by tag. */
  readonly calls: Map<string, Map<string, Open>>
  /** Calls that have failed, verdict or not. */
  readonly failed: Map<string, string>
  /** By tool: calls whose failure the model was told of. */
  readonly told: Map<string, Array<Told>>
  /** Of no call: what recovery around an effect has decided, and answers that did not fit. */
  readonly rest: Map<string, Open>
}

/** What became of the failures in these events, in order. */
export const find = (events: Iterable<Recorded>): Found => {
  const runs = new Map<string, Run>()
  const incidents: Array<Incident> = []
  const troubles: Array<Trouble> = []

  const close = (open: Iterable<Open>, isHealed: boolean, byModel = false) => {
    for (const { attempts, gaveUp, layer, tag, tool, verdict } of open)
      incidents.push({
        layer,
        tag,
        tool,
        failures: attempts.size,
        verdict,
        gaveUp,
        byModel,
        isHealed: isHealed && (byModel || !(gaveUp || surrenders.has(verdict)))
      })
  }
  const closeTold = (all: Iterable<Told>, isHealed: boolean) => {
    for (const { incidents, tool } of all) {
      close(incidents, isHealed, isHealed)
      troubles.push({ tool, isHealed })
    }
  }
  const closeRun = (run: Run, isHealed: boolean) => {
    close(run.asking.values(), isHealed)
    run.asking.clear()
    close(run.rest.values(), isHealed)
    run.rest.clear()
    for (const open of run.calls.values()) close(open.values(), false)
    run.calls.clear()
    for (const tool of run.failed.values()) troubles.push({ tool, isHealed: false })
    run.failed.clear()
    for (const told of run.told.values()) closeTold(told, false)
    run.told.clear()
  }
  const endCall = (run: Run, callId: string, tool: string, isResult: boolean) => {
    const open = [...(run.calls.get(callId)?.values() ?? [])]
    run.calls.delete(callId)
    const isTrouble = run.failed.delete(callId) || open.length > 0
    if (isResult) {
      close(open, true)
      if (isTrouble) troubles.push({ tool, isHealed: true })
      closeTold(run.told.get(tool) ?? [], true)
      run.told.delete(tool)
    } else run.told.set(tool, [...(run.told.get(tool) ?? []), { tool, incidents: open }])
  }

  for (const event of events) {
    const run = runs.get(event.runId) ?? blank()
    runs.set(event.runId, run)
    const callId = textAt(event, "callId")
    const tool = textAt(event, "tool")
    switch (event.type) {
      case "verdict": {
        const layer = textAt(event, "layer") ?? "effect"
        note(placeOf(run, layer, callId), layer, callId === undefined ? undefined : tool, event)
        break
      }
      case "output-rejected": {
        const said = { verdict: "ask again", gaveUp: fieldOf(event, "message") === undefined }
        const attempt = (run.rest.get("output")?.attempts.size ?? 0) + 1
        add(run.rest, "output", { layer: "output", tag: "InvalidOutputError", tool: undefined, ...said, attempt })
        break
      }
      case "model-end":
        close(run.asking.values(), true)
        run.asking.clear()
        break
      case "model-failed":
      case "model-interrupted":
        // what the transport could not cure is for the layers above
        for (const [key, open] of run.asking) {
          if (open.layer !== "transport") continue
          close([open], false)
          run.asking.delete(key)
        }
        break
      case "tool-failed":
        if (callId !== undefined && tool !== undefined) run.failed.set(callId, tool)
        break
      case "tool-end":
        if (callId !== undefined && tool !== undefined)
          endCall(run, callId, tool, textAt(event, "use", "settlement", "kind") === "result")
        break
      case "run-completed":
        closeRun(run, true)
        break
      case "run-failed":
      case "run-interrupted":
        closeRun(run, false)
        break
    }
  }
  for (const run of runs.values()) closeRun(run, false)
  return { incidents, troubles }
}

/** Verdicts after which nothing more is tried for the failure itself; the model may still be told of it. */
const surrenders: ReadonlySet<string> = new Set(["raise", "rethrow", "escalate"])

const blank = (): Run => ({
  asking: new Map(),
  calls: new Map(),
  failed: new Map(),
  told: new Map(),
  rest: new Map()
})

const placeOf = (run: Run, layer: string, callId: string | undefined): Map<string, Open> => {
  if (callId !== undefined) {
    const open = run.calls.get(callId) ?? new Map<string, Open>()
    run.calls.set(callId, open)
    return open
  }
  return layer === "transport" || layer === "model" ? run.asking : run.rest
}

const note = (place: Map<string, Open>, layer: string, tool: string | undefined, event: Recorded) => {
  const tag = textAt(event, "tag") ?? "unknown"
  const verdict = textAt(event, "verdict") ?? "unknown"
  const said = { verdict, gaveUp: flagAt(event, "gaveUp"), attempt: numberAt(event, "attempt") ?? 0 }
  add(place, `${layer} ${tag}`, { layer, tag, tool, ...said })
}

const add = (
  place: Map<string, Open>,
  key: string,
  { attempt, ...said }: Omit<Open, "attempts"> & { readonly attempt: number }
) => {
  const open = place.get(key) ?? { ...said, attempts: new Set() }
  open.verdict = said.verdict
  open.gaveUp = said.gaveUp
  // one failure climbs several rungs: the attempt tells that it is the same one
  open.attempts.add(attempt)
  place.set(key, open)
}
