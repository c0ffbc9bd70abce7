/** The code of one agent: whether it has a model, or the answers that it has given without one. */
import { describe, expect, it } from "vitest"
import { agentCode } from "../../../packages/view/src/replay/agentCode.ts"
import { Code } from "../../../packages/view/src/replay/code.ts"
import type { AgentScript, Script } from "../../../packages/view/src/replay/parts.ts"

const sum: AgentScript = {
  name: "sum",
  prompt: undefined,
  models: [{ after: 5, type: "never" }],
  answers: [],
  tools: [],
  builtIn: [],
  rows: [],
  unknown: [],
  denied: new Map(),
  budget: {},
  interruptsSiblings: false,
  restarts: false
}

const coded = (fields: Partial<AgentScript>) => {
  const agent = { ...sum, ...fields }
  const script: Script = {
    input: "",
    at: 0,
    lasted: 5,
    agents: [agent],
    decisions: [],
    isStreamed: false,
    end: { type: "completed", text: "" }
  }
  return agentCode(agent, script, new Code(script))
}

describe("the code of an agent [P1270]", () => {
  const answers = [{ after: 1, text: "4" }]

  it("has its answers if it was never asked as a model [P1270]", () => {
    const { recorded, standIn } = coded({ answers, models: [] })
    expect([recorded, standIn.split("\n")[1]]).toEqual(["", 'const sum = answering("sum",'])
  })

  it("has a model if it was asked as one, or has no answers [P1270]", () => {
    expect(coded({ answers }).recorded).toContain("const sumModel = play(\n")
    expect(coded({ models: [] }).recorded).toContain("const sumModel = play()")
  })
})
