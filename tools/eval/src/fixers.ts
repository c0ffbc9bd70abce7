/** Who repairs arguments: a function that knows the tools, and an agent that reads a report of the failed call. */
import { Agent, Skill, Tool } from "@kintsugi/core"
import { Effect } from "effect"
import { fixerMark } from "./transit.ts"

const months = "January February March April May June July August September October November December".split(" ")

const fields: ReadonlySet<string> = new Set(["city", "date", "nights", "room", "guest", "from", "to", "year"])

/** A fixer by a developer who has seen a few of these calls. It leaves what it cannot read. */
export const tidied = (raw: string): string => {
  const block = /\{[^]*\}/.exec(raw)?.[0] ?? raw
  const quoted = block.includes('"') ? block : block.replaceAll("'", '"')
  const value = parsed(quoted.replaceAll(/,\s*([}\]])/g, "$1"))
  if (typeof value !== "object" || value === null) return raw
  const declared = Object.entries(value).filter(([name]) => fields.has(name))
  return JSON.stringify(Object.fromEntries(declared.map(([name, field]) => [name, tidiedField(name, field)])))
}

const tidiedField = (name: string, value: unknown): unknown => {
  if (typeof value !== "string") return value
  if (name === "date") return isoDate(value)
  return name === "nights" || name === "guest" ? (parsed(value) ?? value) : value
}

const isoDate = (text: string): string => {
  const [, day = "", month = "", year = ""] = /^(\d{1,2}) (\w+) (\d{4})$/.exec(text) ?? []
  const number = months.indexOf(month) + 1
  return number === 0 ? text : [year, String(number).padStart(2, "0"), day.padStart(2, "0")].join("-")
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** No model is asked. */
export const tidy = Agent.deterministic("tidy", (raw: string) => Effect.succeed(tidied(raw)))

/** Asks the model, which reads nothing of the conversation. What it cannot know it has to hand back. */
export const mender = Agent.make("mender", {
  prompt:
    `${fixerMark} Answer with the corrected arguments as JSON and nothing else. Never make a value up: where it cannot be ` +
    "read off the arguments or the error what was meant, call escalate, and say what is missing.",
  budget: { maxTurns: 2 },
  skills: [Skill.make("mend", { description: "Repairs arguments", tools: [Tool.escalate] })]
})
