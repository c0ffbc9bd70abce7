/** Writes the recorded data and the stand-in of one agent. */
import type { Code } from "./code.ts"
import { key, literal, quoted } from "./literals.ts"
import { budgetCode, tableCode } from "./recovery.ts"
import type { AgentScript, Answer, Attempt, ModelStep, Script, Started, ToolScript } from "./parts.ts"

/** The code of an agent: what was recorded of it, and the part that a reader changes. */
export interface AgentCode {
  readonly recorded: string
  readonly standIn: string
}

export const agentCode = (agent: AgentScript, script: Script, code: Code): AgentCode => {
  const name = code.nameOf(agent.name)
  if (agent.answers.length > 0 && agent.models.length === 0) {
    const answers = agent.answers.map((answer) => answerCode(answer, code))
    return { recorded: "", standIn: statement(name, `${code.use("answering")}(${quoted(agent.name)}`, answers) }
  }
  const model = code.newName(`${agent.name} model`)
  const steps = agent.models.map((step) => stepCode(step, needsUsage(script), code))
  const tools = agent.tools.map((tool) => {
    const name = code.newName(tool.name)
    return { tool, name, stub: hasTable(tool, agent, script) ? code.newName(`recorded ${name}`) : name }
  })
  return {
    recorded: [
      statement(model, `${code.use("play")}(`, steps),
      ...tools.map(({ stub, tool }) => toolCode(stub, tool, code))
    ].join("\n\n"),
    standIn: standInOf(agent, { name, model, tools }, script, code)
  }
}

/** Usage counts only where it has ended the run. */
const needsUsage = ({ agents }: Script): boolean => agents.some(({ budget }) => budget["maxTokens"] !== undefined)

/** A constant that is a call. Each argument has one line, which a formatter leaves as long as it is. */
const statement = (name: string, head: string, items: ReadonlyArray<string>): string => {
  const comma = head.endsWith("(") ? "" : ","
  const lines = items.map((item) => `  ${item}`).join(",\n")
  return `// prettier-ignore\nconst ${name} = ${head}${items.length === 0 ? ")" : `${comma}\n${lines}\n)`}`
}

// --- what was recorded

const stepCode = (step: ModelStep, hasUsage: boolean, code: Code): string => {
  switch (step.type) {
    case "reply":
      return replyCode(step.after, step.reply, hasUsage, code)
    case "fails":
      return `${code.use("broken")}(${step.after}, ${code.error(step.failure)}${step.shown === undefined ? "" : `, ${quoted(step.shown)}`})`
    case "dies":
      return `ScriptedModel.answers(() => ${code.use("later")}(${step.after}, Effect.die(new Error(${quoted(step.message)}))))`
    case "never":
      return "ScriptedModel.answers(() => Effect.never)"
  }
}

const replyCode = (
  after: number,
  { content, finish, usage }: Readonly<Record<string, unknown>>,
  hasUsage: boolean,
  code: Code
): string => {
  const parts = (Array.isArray(content) ? content : []).map((part) => partCode(part, code))
  const isPlain = finish === (parts.some((part) => part.startsWith("call(")) ? "tool-calls" : "stop") && !hasUsage
  if (isPlain) return `${code.use("reply")}(${[after, ...parts].join(", ")})`
  const used = hasUsage ? `, usage: ${literal(usage)}` : ""
  return `${code.use("replyWith")}(${after}, { content: [${parts.join(", ")}], finish: ${literal(finish)}${used} })`
}

const partCode = (part: Readonly<Record<string, unknown>>, code: Code): string => {
  if (part["type"] === "text") return `${code.use("text")}(${literal(part["text"])})`
  if (part["type"] !== "tool-call" || Object.keys(part).length > 4) return literal(part)
  const args = literal(part["arguments"])
  return `${code.use("call")}(${literal(part["name"])}, ${args}, ${literal(part["id"])})`
}

const toolCode = (name: string, { approval, calls, name: tool }: ToolScript, code: Code): string => {
  const lines = [...calls].flatMap(([callId, attempts]) =>
    attempts.length === 0 ? [] : [`  ${key(callId)}: [${attempts.map((one) => attemptCode(one, code)).join(", ")}]`]
  )
  const made = `${code.use("stub")}(${quoted(tool)}, {${lines.length === 0 ? "" : `\n${lines.join(",\n")}\n`}})`
  if (approval === undefined) return `// prettier-ignore\nconst ${name} = ${made}`
  const when = approval.length === 0 ? "" : `, when: (params) => ${literal(approval)}.includes(JSON.stringify(params))`
  return `// prettier-ignore\nconst ${name} = Tool.requireApproval(${made}, { validFor: "365 days"${when} })`
}

const attemptCode = (attempt: Attempt, code: Code): string => {
  const runs = attempt.runs.map((run) => runCode(run, code))
  const end = attempt.type === "run" ? (runs.pop() ?? "Effect.never") : endCode(attempt, code)
  return runs.length === 0 ? end : `${code.use(attempt.isInTurn ? "behind" : "beside")}(${[end, ...runs].join(", ")})`
}

const endCode = (attempt: Exclude<Attempt, { readonly type: "run" }>, code: Code): string => {
  switch (attempt.type) {
    case "gives":
      return `${code.use("gives")}(${attempt.after}, ${quoted(attempt.text)})`
    case "fails":
      return `${code.use("fails")}(${attempt.after}, ${code.error(attempt.failure)})`
    case "dies":
      return `${code.use("later")}(${attempt.after}, Effect.die(new Error(${quoted(attempt.message)})))`
    case "never":
      return "Effect.never"
  }
}

const runCode = ({ after, agent, input }: Started, code: Code): string => {
  // the agent is made further below, where a reader may change it
  const run = `Effect.suspend(() => ${code.nameOf(agent)}(${quoted(input)}))`
  return after === 0 ? run : `${code.use("later")}(${after}, ${run})`
}

const answerCode = (answer: Answer, code: Code): string =>
  "text" in answer
    ? `${code.use("gives")}(${answer.after}, ${quoted(answer.text)})`
    : `${code.use("fails")}(${answer.after}, ${code.error(answer.failure)})`

// --- the part that a reader changes

interface Parts {
  readonly name: string
  readonly model: string
  readonly tools: ReadonlyArray<{ readonly tool: ToolScript; readonly name: string; readonly stub: string }>
}

/** Whether a tool has rows, or is the place for one. */
const hasTable = ({ name, rows }: ToolScript, agent: AgentScript, script: Script): boolean =>
  rows.length > 0 || markOf(agent, script)?.tool === name

const standInOf = (agent: AgentScript, { model, name, tools }: Parts, script: Script, code: Code): string => {
  const marked = markOf(agent, script)
  const tables = tools.flatMap(({ name, stub, tool }) => {
    const mark = marked?.tool === tool.name ? marked.lines : []
    return name === stub ? [] : [`const ${name} = Tool.onError(${stub}, ${tableCode(tool.rows, mark, code)})`]
  })
  const listed = [...tools.map(({ name }) => name), ...agent.builtIn.map((tool) => `Tool.${tool}`)]
  const fields = [
    ...(marked !== undefined && marked.tool === undefined && marked.lines.length > 0 && marked.isOfBudget
      ? marked.lines.map((line) => `// ${line}`)
      : []),
    ...(Object.keys(agent.budget).length === 0 ? [] : [`${budgetCode(agent.budget)},`]),
    `model: ${model},`,
    ...(agent.prompt === undefined ? [] : [promptCode(agent.prompt)]),
    ...(agent.interruptsSiblings ? ['siblings: "interrupt",'] : []),
    listed.length === 0 ? "" : toolsCode(listed)
  ].filter((field) => field !== "")
  const last = fields.at(-1) ?? ""
  const whole = [...fields.slice(0, -1), last.replace(/,$/, "")]
  const mark = marked !== undefined && marked.tool === undefined && !marked.isOfBudget ? marked.lines : []
  const table = tableCode(agent.rows, mark, code)
  const pipes = [
    ...(table === "{}" && !agent.restarts
      ? []
      : [
          agent.restarts
            ? `Agent.onLlmError(\n  ${indented(table)},\n  { onPartial: "restart" }\n)`
            : `Agent.onLlmError(${table})`
        ]),
    ...(agent.unknown.length === 0 ? [] : [`Agent.toolDefaults(${tableCode(agent.unknown, [], code)})`]),
    ...(agent.denied.size === 0 ? [] : [policyCode(agent.denied)])
  ]
  const made = `Agent.make(${quoted(agent.name)}, {\n${whole.map((field) => `  ${indented(field)}`).join("\n")}\n})`
  const piped = pipes.length === 0 ? "" : `.pipe(\n${pipes.map((pipe) => `  ${indented(pipe)}`).join(",\n")}\n)`
  return [...tables, `const ${name} = ${made}${piped}`].join("\n\n")
}

const indented = (text: string): string => text.replaceAll("\n", "\n  ")

const promptCode = (prompt: string): string => {
  const line = `prompt: ${quoted(prompt)},`
  return line.length <= 118 ? line : `prompt:\n  ${quoted(prompt)},`
}

const toolsCode = (tools: ReadonlyArray<string>): string => {
  const line = `tools: [${tools.join(", ")}]`
  const isShort = line.length <= 118 && !line.includes("\n")
  return isShort ? line : `tools: [\n${tools.map((tool) => `  ${indented(tool)}`).join(",\n")}\n]`
}

const policyCode = (denied: ReadonlyMap<string, string>): string => {
  const reasons = `{ ${[...denied].map(([callId, reason]) => `${key(callId)}: ${quoted(reason)}`).join(", ")} }`
  return [
    "// prettier-ignore",
    `Agent.toolPolicy(({ callId }) => {`,
    `  const reason = new Map(Object.entries(${reasons})).get(callId)`,
    "  return reason === undefined ? ToolPolicy.allow : ToolPolicy.deny(reason)",
    "})"
  ].join("\n")
}

/** The comment at the place where the row of the reader goes, if it is in this agent. */
const markOf = (
  agent: AgentScript,
  { end }: Script
):
  | { readonly tool: string | undefined; readonly isOfBudget: boolean; readonly lines: ReadonlyArray<string> }
  | undefined => {
  if (end.type !== "failed" || end.agent !== agent.name || end.isDefect) return undefined
  const { advised, failure, tool } = end
  const isOfBudget = failure.tag === "BudgetExceededError"
  const rows = tool === undefined ? agent.rows : (agent.tools.find(({ name }) => name === tool)?.rows ?? [])
  const ended = `The run has ended here.${rows.some(({ tag }) => tag === failure.tag) ? ` Instead of the row for ${failure.tag}:` : ""}`
  const lines = isOfBudget
    ? ["The run has reached this limit."]
    : advised === undefined
      ? [`${ended} A row that answers goes on:`, `${key(failure.tag)}: Recovery.respondWith("…")`]
      : advised.entry === undefined
        ? [`${ended} What would have gone on:`, advised.code]
        : [`${ended} A row that would have gone on:`, advised.entry]
  return { tool, isOfBudget, lines }
}
