/** Every program that a user starts: what `--help` says, and what is said where a key is missing. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { filesIn, root } from "../../scripts/files.ts"
import { manifestOf, packages } from "../../scripts/packages.ts"

const programs = {
  demo: "packages/examples/src/demo/main.ts",
  "demo:durable": "tools/durable-lab/src/demo.ts",
  backend: "packages/examples/src/backend/main.ts",
  chat: "packages/examples/src/chat/main.ts",
  eval: "tools/eval/src/main.ts",
  "providers:live": "tools/live/src/main.ts",
  kintsugi: "packages/view/src/cli/main.ts"
} as const

const personal = /_API_KEY$|_BASE_URL$|^(?:MODEL|PORT|HOST)$/

const run = (program: keyof typeof programs, parameters: ReadonlyArray<string>, env = {}) =>
  runFile(programs[program], parameters, env)

const runFile = (path: string, parameters: ReadonlyArray<string>, env = {}) =>
  new Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>((resolve, reject) => {
    const inherited = Object.entries(process.env).filter(([name]) => !personal.test(name))
    const child = spawn(process.execPath, [join(root, path), ...parameters], {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 60_000,
      env: { ...Object.fromEntries(inherited), NO_COLOR: "1", ...env }
    })
    let [stdout, stderr] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text))
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, stdout, stderr }))
  })

const names = Object.keys(programs) as ReadonlyArray<keyof typeof programs>

describe.concurrent("the programs", () => {
  it("are all bins of packages, all programs of the examples, and their kin", () => {
    const bins = packages.flatMap((name) =>
      Object.values(manifestOf(name).bin ?? {}).map((path) => join("packages", name, path))
    )
    const mains = filesIn("packages/examples/src", (path) => path.endsWith("/main.ts")).map(({ path }) => path)
    expect(Object.values(programs)).toEqual(expect.arrayContaining([...bins, ...mains]))
  })

  it.each(names)("%s explains itself, and does nothing else", { timeout: 90_000 }, async (name) => {
    const { code, stderr, stdout } = await run(name, ["--help"])
    expect([code, stderr]).toEqual([0, ""])
    expect(stdout).toContain(name)
    expect(stdout.split("\n").length).toBeGreaterThan(3)
  })

  const unset = { code: 1, stdout: "", stderr: "error: set OPENAI_API_KEY\n" }
  const unnamed = "error: set MODEL: OPENAI_API_KEY is set, and MODEL has to name a model of that provider\n"

  it.each<readonly [keyof typeof programs, ReadonlyArray<string>]>([
    ["demo", ["{a: 1}", "--provider", "openai", "--model", "any"]],
    ["demo", ["{a: 1}", "--stream", "--provider", "openai", "--model", "any"]],
    ["eval", ["--live", "--provider=openai", "--model=any"]]
  ])("%s %j says in one line which key is missing", { timeout: 90_000 }, async (name, parameters) => {
    expect(await run(name, parameters)).toEqual(unset)
    expect(await run(name, parameters, { OPENAI_API_KEY: "" })).toEqual(unset)
  })

  it.each(["http-router", "rpc", "typed-events"])(
    "the recipe %s says in one line which key is missing",
    { timeout: 90_000 },
    async (recipe) => {
      const { code, stderr, stdout } = await runFile(`packages/examples/recipes/${recipe}/server.ts`, [])
      expect({ code, stderr, stdout }).toEqual({ code: 1, stderr: "set OPENAI_API_KEY\n", stdout: "" })
    }
  )

  it.each(["backend", "chat"] as const)(
    "%s says in one line that no model is named",
    { timeout: 90_000 },
    async (name) => {
      expect(await run(name, [], { OPENAI_API_KEY: "sk-any" })).toEqual({ code: 1, stdout: "", stderr: unnamed })
      const { code, stderr } = await run(name, ["--hlep"])
      expect([code, stderr]).toEqual([2, "error: there is no option '--hlep', see --help\n"])
    }
  )

  it("backend says in one line which variable does not fit", { timeout: 90_000 }, async () => {
    const { code, stderr } = await run("backend", [], { PORT: "many" })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: .*PORT.*\n$/)
  })

  it("backend says in one line that its port is taken", { timeout: 90_000 }, async () => {
    const other = createServer().listen(0, "127.0.0.1")
    await once(other, "listening")
    const address = other.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const { code, stderr } = await run("backend", [], { PORT: `${port}` })
    other.close()
    expect(code).toBe(1)
    expect(stderr).toBe(`error: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`)
  })
})
