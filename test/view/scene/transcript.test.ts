/** The conversation as a reader sees it: each type of event with its heading, its text and its tone. */
import { Recording } from "@kintsugi/view"
import { describe, expect, it } from "vitest"
import { make } from "../../../packages/view/src/scene/transcript.ts"

const transcript = (...events: ReadonlyArray<object>) =>
  make(Recording.fromEvents(events.map((event) => ({ runId: "r", agent: "desk", turn: 1, at: 0, ...event }))).events)

/** The entries of one event: speaker, heading, text, and the tone if there is one. */
const said = (type: string, fields: object = {}) =>
  transcript({ type, ...fields }).map(({ heading, speaker, text, tone }) => [
    speaker,
    heading,
    text,
    ...(tone === undefined ? [] : [tone])
  ])

const busy = { _tag: "Busy", message: "later" }
const message = (...texts: ReadonlyArray<string>) => ({
  role: "user",
  content: texts.map((text) => ({ type: "text", text }))
})

describe("the conversation [P1207]", () => {
  it("begins with what was there before, or with the input [P1207]", () => {
    const reply = { role: "assistant", content: [{ type: "text", text: "Hello." }] }
    const image = {
      role: "user",
      content: [{ type: "text", text: "Look:" }, { type: "image", mediaType: "image/png" }, { type: "file" }, {}]
    }
    expect(said("run-start", { transcript: [{ role: "system", text: "Help." }, image, reply] })).toEqual([
      ["system", "System", "Help."],
      ["user", "User", "Look:\n[image image/png]\n[file ]\n[part ]"],
      ["assistant", "Model", "Hello."]
    ])
    expect(said("run-start", { transcript: [{ role: "system" }] })).toEqual([["system", "System", ""]])
    expect(said("run-start", { input: { a: 1 } })).toEqual([["user", "Input", '{"a":1}']])
  })

  it("has each part of a reply [P1207]", () => {
    const reply = (fields: object, ...content: ReadonlyArray<object>) =>
      said("model-end", { reply: { ...fields, content } })
    expect(
      reply(
        {},
        { type: "text", text: "a" },
        { type: "text" },
        { type: "reasoning", text: "b" },
        { type: "reasoning" },
        { type: "tool-call", name: "pay", arguments: { cents: 5 } },
        { type: "tool-call" },
        { type: "opaque", kind: "search" },
        { type: "opaque" },
        {}
      )
    ).toEqual([
      ["assistant", "Model", "a"],
      ["assistant", "Model", ""],
      ["assistant", "Model, thinking", "b"],
      ["assistant", "Model, thinking", ""],
      ["assistant", "Model calls pay", '{"cents":5}'],
      ["assistant", "Model calls ?", ""],
      ["assistant", "Model, search", ""],
      ["assistant", "Model, opaque", ""],
      ["assistant", "Model, part", ""]
    ])
    const text = { type: "text", text: "a" }
    expect(reply({ incomplete: true, withheld: true }, text)).toEqual([["assistant", "Model, stopped", "a"]])
    expect(reply({ incomplete: false, withheld: true }, text)).toEqual([["assistant", "Model, withheld", "a"]])
  })

  it("has each call of a message with what the model has read of it [P1207]", () => {
    const call = (settlement: object, fields: object = { name: "pay", arguments: "{}" }) => ({
      type: "settled-call",
      call: fields,
      settlement
    })
    expect(
      said("turn-end", {
        message: { content: [call({ kind: "result", text: "paid" }), call({ kind: "told", text: "no" }), call({}, {})] }
      })
    ).toEqual([
      ["assistant", "Model calls pay", "{}"],
      ["tool", "pay: result", "paid"],
      ["assistant", "Model calls pay", "{}"],
      ["tool", "pay: told an error", "no", "tell"],
      ["assistant", "Model calls ?", ""],
      ["tool", "?: settled", "", "tell"]
    ])
  })

  it("has a reply once, though the turn ends with the same one [P1207]", () => {
    const reply = { content: [{ type: "text", text: "a" }] }
    const entries = transcript(
      { type: "model-end", reply },
      { type: "turn-end", message: reply },
      { type: "turn-end", turn: 2, message: reply },
      { type: "turn-end", runId: "s", message: reply }
    )
    expect(entries.map(({ event }) => event)).toEqual([0, 2, 3])
  })

  it("says that a run goes on, and how deep each run is [P1207]", () => {
    const within = (runId: string, parent: string) => ({
      runId,
      parent: { runId: parent },
      type: "run-suspended",
      agent: runId
    })
    expect(
      transcript(
        { type: "run-start", input: "a" },
        { type: "run-start", input: "a" },
        within("b", "r"),
        within("c", "b"),
        within("d", "gone")
      )
    ).toEqual([
      { event: 0, agent: "desk", depth: 0, speaker: "user", heading: "Input", text: "a" },
      { event: 1, agent: "desk", depth: 0, speaker: "run", heading: "The run goes on", text: "" },
      { event: 2, agent: "b", depth: 1, speaker: "run", heading: "b waits", text: "", tone: "asked" },
      { event: 3, agent: "c", depth: 2, speaker: "run", heading: "c waits", text: "", tone: "asked" },
      { event: 4, agent: "d", depth: 1, speaker: "run", heading: "d waits", text: "", tone: "asked" }
    ])
  })

  const pay = { tool: "pay", callId: "c" }

  it.each<readonly [string, object, ReadonlyArray<ReadonlyArray<string>>]>([
    ["skill-chosen", { skill: "talk", prompt: "Talk." }, [["run", "Skill talk", "Talk."]]],
    ["skill-chosen", {}, [["run", "Skill ?", ""]]],
    ["turn-start", {}, []],
    ["turn-start", { message: message("Answer.") }, [["run", "The run asks for its answer", "Answer.", "tell"]]],
    ["model-failed", { error: busy }, [["recovery", "The model failed", "Busy: later", "lost"]]],
    ["model-interrupted", {}, [["recovery", "The model was interrupted", ""]]],
    ["attempt-discarded", { text: "half" }, [["recovery", "What was said does not count", "half", "lost"]]],
    ["attempt-discarded", {}, [["recovery", "What was said does not count", "", "lost"]]],
    ["attempt-continued", { kept: "half" }, [["recovery", "The model goes on from this", "half", "mended"]]],
    ["attempt-continued", {}, [["recovery", "The model goes on from this", "", "mended"]]],
    ["compacted", { compaction: "x" }, [["recovery", "The conversation was shortened by x", "", "mended"]]],
    ["compacted", {}, [["recovery", "The conversation was shortened by ?", "", "mended"]]],
    [
      "not-compacted",
      { compaction: "x", why: "no-window" },
      [["recovery", "The conversation was not shortened by x", "The window of the model is not known."]]
    ],
    [
      "not-compacted",
      { why: "not-shorter" },
      [["recovery", "The conversation was not shortened by ?", "Its result is no shorter."]]
    ],
    [
      "not-compacted",
      { compaction: "x", error: busy },
      [["recovery", "The conversation was not shortened by x", "Busy: later"]]
    ],
    ["not-compacted", { compaction: "x" }, [["recovery", "The conversation was not shortened by x", ""]]],
    [
      "result-cut",
      { ...pay, error: busy },
      [["recovery", "The result of pay could not be put aside", "Busy: later", "lost"]]
    ],
    [
      "arguments-coerced",
      { ...pay, change: { step: "fence" } },
      [["recovery", "Arguments of pay read by fence", "", "mended"]]
    ],
    ["arguments-coerced", {}, [["recovery", "Arguments of ? read by ?", "", "mended"]]],
    ["tool-failed", { ...pay, error: busy }, [["recovery", "pay failed: Busy", "later", "lost"]]],
    [
      "verdict",
      { layer: "tool", tag: "Busy", verdict: "tell", error: busy },
      [["recovery", "tool: Busy → tell", "", "tell"]]
    ],
    [
      "verdict",
      { layer: "model", tag: "Busy", verdict: "retry", delay: 1500, error: busy },
      [["recovery", "model: Busy → retry in 1.5 s", "later", "mended"]]
    ],
    ["verdict", { gaveUp: true }, [["recovery", "?: ? → ? gave up", "", "lost"]]],
    ["fix-start", { ...pay, input: "mend" }, [["recovery", "A fixer is handed the call of pay", "mend", "mended"]]],
    ["fix-start", pay, [["recovery", "A fixer is handed the call of pay", "", "mended"]]],
    ["fix-end", { answer: "{}" }, [["recovery", "The fixer answers", "{}", "mended"]]],
    ["fix-end", {}, [["recovery", "The fixer answers", "", "mended"]]],
    ["fix-failed", { error: busy }, [["recovery", "The fixer failed", "Busy: later", "lost"]]],
    [
      "tool-end",
      { ...pay, use: { settlement: { kind: "deferred", text: "later" } } },
      [["tool", "pay: deferred", "later", "tell"]]
    ],
    ["tool-denied", { ...pay, settlement: { kind: "denied", text: "no" } }, [["tool", "pay: denied", "no", "tell"]]],
    ["tool-skipped", { settlement: { kind: "skipped" } }, [["tool", "?: skipped", "", "tell"]]],
    [
      "tool-changed",
      { ...pay, server: "shop", action: "refuse" },
      [["run", "shop has changed pay: refuse", "", "lost"]]
    ],
    ["tool-changed", { action: "accept" }, [["run", "A server has changed ?: accept", "", "note"]]],
    ["tool-changed", pay, [["run", "A server has changed pay: ?", "", "note"]]],
    ["tool-compensated", pay, [["recovery", "pay is undone", "", "note"]]],
    ["tool-compensated", { ...pay, error: busy }, [["recovery", "pay is not undone", "Busy: later", "lost"]]],
    [
      "approval-requested",
      { ...pay, request: { reason: "money", arguments: { cents: 5 } } },
      [["run", "pay waits for approval: money", '{"cents":5}', "asked"]]
    ],
    ["approval-requested", pay, [["run", "pay waits for approval: ", "", "asked"]]],
    [
      "approval-decided",
      { ...pay, decision: { type: "refuse", reason: "no" } },
      [["run", "pay: refuse", "no", "asked"]]
    ],
    ["approval-decided", { by: "g" }, [["run", "?: ?, by a grant", "", "asked"]]],
    ["approval-expired", pay, [["run", "pay: no decision came in time", "", "lost"]]],
    ["events-lost", { text: "3 are gone" }, [["run", "Earlier events are gone", "3 are gone", "lost"]]],
    ["events-lost", {}, [["run", "Earlier events are gone", "", "lost"]]],
    ["tool-result", { ...pay, message: message("a", "b") }, [["user", "The result of pay has come", "a\nb"]]],
    ["guardrail", { verdict: "pass" }, []],
    [
      "guardrail",
      { guard: "g", verdict: "block", reason: "why", message: message("m") },
      [["run", "Guardrail g: block", "why\nm", "lost"]]
    ],
    ["guardrail", { reason: "why" }, [["run", "Guardrail ?: ?", "why", "lost"]]],
    ["guardrail", { message: message("m") }, [["run", "Guardrail ?: ?", "m", "lost"]]],
    ["message-read", { message: message("Wait.") }, [["user", "Said meanwhile", "Wait."]]],
    ["message-returned", { message: message("Wait.") }, [["run", "Said, and not read", "Wait.", "lost"]]],
    ["output-coerced", { change: { step: "fence" } }, [["recovery", "Output read by fence", "", "mended"]]],
    ["output-coerced", {}, [["recovery", "Output read by ?", "", "mended"]]],
    [
      "output-rejected",
      { message: message("Mend it.") },
      [["recovery", "The output does not fit", "Mend it.", "tell"]]
    ],
    ["output-rejected", {}, [["recovery", "The output does not fit", "", "lost"]]],
    ["budget-warning", { reason: "maxTurns" }, [["run", "Budget: maxTurns is near", ""]]],
    ["budget-warning", {}, [["run", "Budget: a limit is near", ""]]],
    ["budget-exceeded", { reason: "maxTurns" }, [["run", "Budget: maxTurns is reached", "", "lost"]]],
    ["budget-exceeded", {}, [["run", "Budget: a limit is reached", "", "lost"]]],
    [
      "run-completed",
      { output: { a: 1 }, usage: { inputTokens: 3, outputTokens: 4 }, cost: 0.5 },
      [["run", "desk answers (7 tokens, $0.5)", '{"a":1}']]
    ],
    [
      "run-completed",
      { endedBy: { reason: "maxTurns" }, usage: { outputTokens: 1 } },
      [["run", "desk answers at its limit of maxTurns (1 token)", ""]]
    ],
    ["run-suspended", {}, [["run", "desk waits", "", "asked"]]],
    ["run-interrupted", {}, [["run", "desk was interrupted", "", "lost"]]],
    ["text-delta", { text: "a" }, []],
    ["constructor", {}, []]
  ])("has for %s %j what a reader should know [P1207]", (type, fields, expected) => {
    expect(said(type, fields)).toEqual(expected)
  })
})
