/** The command line as a process. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { root } from "../../../scripts/files.ts"
import { kintsugi, folderOfTests } from "./_support/playing.ts"
import { main, quoted, shellIn } from "./_support/shell.ts"

const { file, folder } = folderOfTests()
const shell = shellIn(folder)

file("events.jsonl", readFileSync(join(root, "docs/guide/pictures/events.jsonl"), "utf8"))
file(
  "policy.ts",
  'import { Recovery } from "@kintsugi/core"\nsetInterval(() => undefined, 1000)\nexport const table = { A: Recovery.retry({ retries: 1 }) }\n'
)

file("hanging.ts", "await new Promise(() => undefined)\nexport const a = 1\n")

/** A process starts slowly on a machine that is at work. */
const timeout = 120_000

describe("the command line", () => {
  it("completes the words of shells [P1242]", { timeout }, () => {
    for (const name of ["bash", "zsh", "fish"]) {
      const { code, err, out } = shell(`kintsugi --completions ${name}`)
      expect([code, err]).toEqual([0, ""])
      expect(out).toContain("explain")
      if (name === "bash") expect(shell(`bash -n <(kintsugi --completions bash)`)).toMatchObject({ code: 0, err: "" })
    }
  })

  it("exits with its codes, without a stack [P1240 P1243]", { timeout }, () => {
    expect(shell("kintsugi stats events.jsonl --json | cat")).toMatchObject({ code: 0, err: "" })
    for (const [command, code] of [
      ["kintsugi report missing.jsonl", 1],
      ["kintsugi report --nope", 2]
    ] as const) {
      const said = shell(command)
      expect(said.code).toBe(code)
      expect(said.out).toBe("")
      expect(said.err).toMatch(/^error: /)
      expect(said.err).not.toMatch(/^\s+at |Warning/m)
    }
  })

  it("reads endless pipes and files as far as their bounds, and waits for no named pipe [P1389]", { timeout }, () => {
    const endless = shell("yes | kintsugi report --max-size 1; echo $? ${PIPESTATUS[1]}")
    expect(endless.err).toBe(
      "error: cannot read standard input: it is larger than 1 MiB; --max-size raises the bound\n"
    )
    expect(endless.out).toBe("1 1\n")
    const named = shell("mkfifo named.jsonl; kintsugi report named.jsonl")
    expect(named).toMatchObject({ code: 1, err: expect.stringContaining("named.jsonl is a pipe") })
    const zeros = shell("kintsugi report /dev/zero -o zeros.html")
    expect(zeros).toMatchObject({ code: 1, err: expect.stringContaining("its line 1 is larger than 16 MiB") })
    expect(zeros.err).not.toContain("bug")
    expect(existsSync(join(folder, "zeros.html"))).toBe(false)
  })

  it("ends quietly when the reader stops [P1243]", { timeout }, () => {
    for (const command of ["kintsugi report events.jsonl", "kintsugi stats events.jsonl --json", "kintsugi --help"]) {
      expect(shell(`${command} | head -c 1 > /dev/null`)).toEqual({ code: 0, out: "", err: "" })
    }
    expect(shell("kintsugi report events.jsonl | true")).toEqual({ code: 0, out: "", err: "" })
  })

  it("reports why it cannot write, and which module never ends [P1240 P1243]", { timeout }, () => {
    const full = shell("kintsugi report events.jsonl > /dev/full")
    expect([full.code, full.err]).toEqual([1, expect.stringMatching(/^error: cannot write to standard output: ENOSPC/)])
    const file = shell("kintsugi stats events.jsonl --format svg -o /dev/full")
    expect([file.code, file.err]).toEqual([1, expect.stringMatching(/^error: cannot write \/dev\/full: ENOSPC/)])
    const hanging = shell("kintsugi explain hanging.ts")
    expect(hanging).toEqual({ code: 1, out: "", err: "error: the module that was named never ends its loading\n" })
  })

  it("ends though a policy's module would hold the process [P1243]", { timeout }, () => {
    expect(shell("kintsugi explain policy.ts")).toMatchObject({ code: 0, err: "" })
  })

  it("takes nothing of what a policy's module prints for its result [P1252]", { timeout }, () => {
    const lines = ["import { log } from 'node:console'", "import { Recovery } from '@kintsugi/core'"]
    const says = ["console.log('noise one')", "log('noise two')", "console.table(['noise three'])"]
    file("noisy.ts", [...lines, ...says, "export const table = { A: Recovery.retry({ retries: 1 }) }"].join("\n"))
    const { code, err, out } = shell("kintsugi explain noisy.ts --format svg")
    expect(code).toBe(0)
    expect(out).toMatch(/^<svg .*<\/svg>\n$/s)
    for (const noise of ["noise one", "noise two", "noise three"]) expect(err).toContain(noise)
  })

  it("fails where a policy's module ends the process [P1252]", { timeout }, () => {
    for (const code of [0, 3]) {
      file("exits.ts", `process.exit(${code})`)
      expect(shell("kintsugi explain exits.ts -o exits.svg")).toEqual({
        code: 1,
        out: "",
        err: "error: the module that was named has ended the process\n"
      })
      expect(existsSync(join(folder, "exits.svg"))).toBe(false)
    }
  })

  it("can be interrupted while a policy's module holds the thread [P1252]", { timeout }, async () => {
    const looping = file("looping.ts", "import { writeSync } from 'node:fs'\nwriteSync(2, 'begun')\nwhile (true) {}")
    const child = spawn(process.execPath, [main, "explain", looping], { stdio: ["ignore", "ignore", "pipe"] })
    onTestFinished(() => void child.kill("SIGKILL"))
    await once(child.stderr, "data")
    const ctrlC = process.platform === "win32" ? "SIGTERM" : "SIGINT"
    child.kill(ctrlC)
    expect(await once(child, "exit")).toEqual([null, ctrlC])
  })

  it("exits with 130 where it is interrupted, and writes nothing [P1253]", { timeout }, async () => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const target = join(folder, `${signal}.html`)
      const child = spawn(process.execPath, [main, "report", "-o", target], { stdio: ["pipe", "ignore", "inherit"] })
      onTestFinished(() => void child.kill("SIGKILL"))
      // more than a pipe holds: it drains once the command reads, and then the command is at work
      child.stdin.write(`${" ".repeat(2 ** 20)}\n`)
      await once(child.stdin, "drain")
      child.kill(signal)
      expect(await once(child, "exit")).toEqual([130, null])
      expect(existsSync(target)).toBe(false)
    }
  })

  it(
    "keeps what Node compiles of it for the next start, unless the environment forbids that [P1254]",
    { timeout },
    () => {
      const cached = (environment: string) => {
        const temporary = mkdtempSync(join(folder, "temporary-"))
        const { code, err } = shell(`export TMPDIR=${quoted(temporary)}; ${environment}; kintsugi --version`)
        expect([code, err]).toEqual([0, ""])
        return readdirSync(temporary, { recursive: true }).length
      }
      // its own modules and those of Effect, each a file
      expect(cached("unset NODE_DISABLE_COMPILE_CACHE NODE_COMPILE_CACHE")).toBeGreaterThan(100)
      expect(cached("export NODE_DISABLE_COMPILE_CACHE=1")).toBe(0)
    }
  )

  it("colours on a terminal alone, and not where NO_COLOR is set [P1241]", { timeout }, async () => {
    const escape = "\u001b["
    const asked = ["stats", "events.jsonl"]
    expect(shell(`kintsugi ${asked.join(" ")}`).out).not.toContain(escape)
    expect(shell(`kintsugi ${asked.join(" ")}`, { FORCE_COLOR: "1" }).out).toContain(escape)
    expect(shell(`kintsugi ${asked.join(" ")}`, { FORCE_COLOR: "1", NO_COLOR: "1" }).out).not.toContain(escape)
    expect(shell("kintsugi --help").out).not.toContain(escape)
    expect(shell("kintsugi --help", { FORCE_COLOR: "1" }).out).toContain(escape)
    const onTerminal = (env: Readonly<Record<string, string>>) => kintsugi(["--help"], { isTerminal: true, env })
    expect((await onTerminal({ TERM: "xterm" })).out).toContain(escape)
    expect((await onTerminal({ TERM: "xterm", NO_COLOR: "1" })).out).not.toContain(escape)
    expect((await onTerminal({ TERM: "dumb" })).out).not.toContain(escape)
  })
})

it("logs no text that a terminal obeys: what a module logs may quote a server or a model", { timeout }, () => {
  file(
    "logs.mjs",
    'import { Effect } from "effect"\n' +
      'export default Effect.andThen(Effect.logWarning("a \\u001b]0;x\\u0007 \\u009b2J"), Effect.fail(new Error("down")))\n'
  )
  const { code, err, out } = shell("kintsugi mcp pins list logs.mjs")
  expect([code, out]).toEqual([1, ""])
  expect(err).toContain("level=WARN")
  // oxlint-disable-next-line no-control-regex -- these are what it looks for
  expect(err).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
})
