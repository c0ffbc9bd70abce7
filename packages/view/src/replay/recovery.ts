/** Writes the tables of a script. */
import { inComment, key, list, quoted } from "./literals.ts"
import type { Code } from "./code.ts"
import type { Fixed, Row, Rung } from "./parts.ts"

/** The code of a row. */
const rowCode = ({ byCall, rungs }: Row, code: Code): string => {
  const otherwise = ladder(rungs, code)
  if (byCall.size === 0) return otherwise
  const calls = [...byCall].map(([callId, rungs]) => `${key(callId)}: ${ladder(rungs, code)}`)
  return `${code.use("byCall")}({ ${calls.join(", ")} }, ${otherwise})`
}

const ladder = (rungs: ReadonlyArray<Rung>, code: Code): string => {
  const [first = "Recovery.rethrow", ...others] = rungs.map((rung) => rungCode(rung, code))
  return others.length === 0 ? first : `Recovery.ladder(${[first, ...others].join(", ")})`
}

const rungCode = (rung: Rung, code: Code): string => {
  switch (rung.kind) {
    case "retry":
      return `Recovery.retry(${retryCode(rung.delays, code)})`
    case "fix": {
      const answers = rung.answers.map((fixed) => fixedCode(fixed, code))
      const options = [
        ...(rung.answers.length > 1 ? [`retries: ${rung.answers.length - 1}`] : []),
        ...(rung.isResult ? ['as: "result"'] : [])
      ]
      return `Recovery.fix(${code.use("fixer")}(${answers.join(", ")})${options.length === 0 ? "" : `, { ${options.join(", ")} }`})`
    }
    case "respondWith":
      return `Recovery.respondWith(${quoted(rung.text)})`
    case "tell":
    case "escalate":
      return `Recovery.${rung.kind}()`
    case "raise":
    case "rethrow":
      return `Recovery.${rung.kind}`
  }
}

const fixedCode = (fixed: Fixed, code: Code): string => {
  if ("answer" in fixed) return `${code.use("gives")}(${fixed.after}, ${quoted(fixed.answer)})`
  if ("failure" in fixed) return `${code.use("fails")}(${fixed.after}, ${code.error(fixed.failure)})`
  if (fixed.cut === "never") return "Effect.never"
  return `${code.use("later")}(${fixed.after}, Effect.die(new Error("The fixer died.")))`
}

const retryCode = (delays: ReadonlyArray<number>, code: Code): string => {
  const [first = 0] = delays
  if (delays.every((delay) => delay === 0)) return `{ retries: ${delays.length} }`
  if (delays.every((delay, index) => delay === first * 2 ** index))
    return `{ retries: ${delays.length}, initialBackoff: ${first} }`
  return `${code.use("waits")}(${delays.join(", ")})`
}

/** The code of a table. `mark` is a comment in it: its last line is where the row of the reader goes. */
export const tableCode = (rows: ReadonlyArray<Row>, mark: ReadonlyArray<string>, code: Code): string => {
  const lines = [
    ...mark.map((line, index) => `// ${inComment(line)}${index === mark.length - 1 && rows.length > 0 ? "," : ""}`),
    ...rows.map((row, index) => {
      const comma = index === rows.length - 1 ? "" : ","
      const line = `${key(row.tag)}: ${rowCode(row, code)}${comma}`
      return `${line.length > 110 ? "// prettier-ignore\n" : ""}${line}`
    })
  ]
  return lines.length === 0 ? "{}" : `{\n${lines.map((line) => `  ${line.replaceAll("\n", "\n  ")}`).join("\n")}\n}`
}

/** The code of the limits of an agent. */
export const budgetCode = (budget: Readonly<Record<string, number>>): string =>
  list(
    "budget: ",
    "{",
    Object.entries(budget).map(([name, limit]) =>
      name === "repeatedFailure" ? `repeatedFailures: { stop: ${limit} }` : `${name}: ${limit}`
    ),
    "}"
  )
