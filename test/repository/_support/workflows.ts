/** Lints workflows with GitHub's own language service: the schema, the contexts of expressions, the jobs that are needed. */
import { registerHooks } from "node:module"
import { TextDocument } from "vscode-languageserver-textdocument"
import { parse } from "yaml"

// the language service is written for bundlers, which read JSON without being told
const hooks = registerHooks({
  load: (url, context, next) =>
    next(url, url.endsWith(".json") ? { ...context, importAttributes: { type: "json" } } : context)
})
const { registerLogger, validate } = await import("@actions/languageservice")
hooks.deregister()

const fail = (message: string): never => {
  throw new Error(message)
}
// it takes a failure of its own for a workflow without faults, and only logs it
registerLogger({ error: fail, warn: fail, info: () => {}, log: () => {} })

let linted = 0

/** What is wrong with the text of a workflow. */
export const faultsIn = async (text: string): Promise<ReadonlyArray<string>> => {
  // what it has read at one address, it does not read again
  const uri = `file:///${linted++}/.github/workflows/workflow.yml`
  const found = await validate(TextDocument.create(uri, "yaml", 1, text))
  return found.map(({ message, range }) => `${range.start.line + 1}: ${message}`)
}

/** A step of a job. */
export interface Step {
  readonly uses?: string
  readonly run?: string
}

/** A workflow, as far as the tests ask for it. */
export interface Workflow {
  readonly permissions?: unknown
  readonly concurrency?: unknown
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly needs?: string
        readonly environment?: string
        readonly permissions?: Readonly<Record<string, string>>
        readonly steps: ReadonlyArray<Step>
      }
    >
  >
}

export const read = (text: string): Workflow => parse(text)

export const stepsIn = ({ jobs }: Workflow): ReadonlyArray<Step> => Object.values(jobs).flatMap(({ steps }) => steps)

/** Commands of workflows that are no scripts of `package.json`. */
const others = new Set(["corepack enable", "pnpm install --frozen-lockfile --ignore-scripts"])

/** Commands that call no script of these. */
export const unknownCommands = (workflow: Workflow, scripts: ReadonlyArray<string>): ReadonlyArray<string> =>
  stepsIn(workflow)
    .flatMap(({ run = "" }) => run.split("\n"))
    .map((line) => line.trim())
    .filter((line) => line !== "" && !others.has(line))
    .filter((line) => {
      const [, test, script] = /^npm (?:(test)|run ([\w:-]+))(?: |$)/.exec(line) ?? []
      return !scripts.includes(test ?? script ?? "")
    })
