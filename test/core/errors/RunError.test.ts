/** The messages of failures of runs. */
import { describe, it } from "@effect/vitest"
import { RunError, Usage } from "@kintsugi/core"
import { Struct } from "effect"
import { reads } from "../_support/messages.ts"

const ofRun = { transcript: [], usage: Usage.empty }
const agent = "a"
const budget = { agent, limit: 2, spent: 3, partial: "", ...ofRun }

describe("the message of", () => {
  it("BudgetExceededError [T9 T10]", () => {
    const nouns = {
      maxTurns: "turns",
      maxToolCalls: "tool calls",
      maxDuration: "milliseconds",
      maxTokens: "tokens",
      maxCost: "US dollars",
      maxConsecutiveSameTool: "calls of one tool in a row",
      maxDepth: "nested agents",
      repeatedFailure: "equal failures in a row",
      toolsOff: "calls with tools switched off"
    } as const
    reads(
      "Mend what has used it up, or go on from its transcript with a larger budget",
      Struct.keys(nouns).map((reason) => [
        RunError.BudgetExceededError.make({ ...budget, reason }),
        `Agent 'a' reached its limit of 2 ${nouns[reason]} (${reason})`
      ])
    )
  })

  it("InvalidOutputError [T9 T10]", () =>
    reads("Loosen the output schema, or ask another model", [
      [
        RunError.InvalidOutputError.make({
          agent: "a",
          text: "x",
          issues: [{ path: [], expected: "a number", actual: '"x"' }],
          ...ofRun
        }),
        "The answer of agent 'a' does not fit its output schema: a number, got \"x\""
      ],
      [
        RunError.InvalidOutputError.make({ agent, text: "x", isCut: true, issues: [], ...ofRun }),
        "The answer of agent 'a' was cut off by the limit of its length and does not fit its output schema"
      ]
    ]))

  it("RoutingError [T9 T10]", () =>
    reads("Describe the skills more clearly, or choose one by rule", [
      [
        RunError.RoutingError.make({ agent, candidates: ["b", "c"], answer: "neither", ...ofRun }),
        "Agent 'a' could not choose one of its skills b, c: neither"
      ]
    ]))

  it("LoopExhaustedError [T9 T10]", () =>
    reads("Use its last output, or allow more iterations", [
      [RunError.LoopExhaustedError.make({ iterations: 3, last: null }), "No output was accepted in 3 iterations"]
    ]))

  it("GuardrailError [T9 T10]", () =>
    reads("Ask for something else, or loosen the check", [
      [
        RunError.GuardrailError.make({ agent, guard: "g", side: "input", reason: "rude", ...ofRun }),
        "Guardrail 'g' of agent 'a' blocked a text of the user: rude"
      ],
      [
        RunError.GuardrailError.make({ agent, guard: "g", side: "output", reason: "rude", ...ofRun }),
        "Guardrail 'g' of agent 'a' blocked an answer of the model: rude"
      ]
    ]))

  it("UnknownPriceError [T9 T10]", () =>
    reads("Give the price in the budget's prices, or as the option price of the model's layer", [
      [
        RunError.UnknownPriceError.make({ agent, model: "m", option: "maxCost", ...ofRun }),
        "maxCost of agent 'a' needs the price of model 'm'"
      ]
    ]))
})
