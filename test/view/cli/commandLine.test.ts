/** The command line as a whole, within the process of the test. */
import { readFileSync } from "node:fs"
import { describe, expect, it, vi } from "vitest"
import { midFile } from "../_support/recorded.ts"
import { kintsugi } from "./_support/playing.ts"

describe("the command line", () => {
  it.each(["report", "test", "explain", "stats", "eval", "serve"])(
    "%s --help has its arguments and flags, with examples [P1242]",
    async (name) => {
      const help = new URL(`_support/help/${name}.txt`, import.meta.url)
      const { code, err, out } = await kintsugi([name, "--help"])
      expect([code, err]).toEqual([0, ""])
      expect(out).toBe(readFileSync(help, "utf8"))
    }
  )

  it("writes help without colours behind a mistake, also on a terminal [P1241]", async () => {
    const was = process.stdout.isTTY
    process.stdout.isTTY = true
    vi.stubEnv("NO_COLOR", undefined)
    try {
      const { code, err, out } = await kintsugi([], { isTerminal: true, env: { TERM: "xterm" } })
      expect([code, out]).toEqual([2, ""])
      expect(err).toContain("SUBCOMMANDS")
      expect(err).not.toContain("[1m")
    } finally {
      process.stdout.isTTY = was
      vi.unstubAllEnvs()
    }
  })

  it("prints its commands and exit codes, and its version [P1242]", async () => {
    const { code, out } = await kintsugi(["--help"])
    expect(code).toBe(0)
    expect(out).toMatch(/report .*\n +test .*\n +explain .*\n +stats /)
    expect(out).toMatch(/0 it is done, 1 it cannot be done, 2 it was asked/)
    expect(await kintsugi(["--version"])).toEqual({ code: 0, out: "1.2.3\n", err: "" })
    // asked for nothing at all
    expect(await kintsugi([])).toMatchObject({ code: 2, out: "", err: expect.stringContaining("SUBCOMMANDS") })
  })

  it("colours on a terminal alone, and not where NO_COLOR is set [P1241]", async () => {
    const escape = "\u001b["
    const onTerminal = (env: Readonly<Record<string, string>>) => kintsugi(["--help"], { isTerminal: true, env })
    expect((await onTerminal({ TERM: "xterm" })).out).toContain(escape)
    expect((await onTerminal({ TERM: "xterm", NO_COLOR: "1" })).out).not.toContain(escape)
    expect((await onTerminal({ TERM: "dumb" })).out).not.toContain(escape)
    expect((await kintsugi(["--help"])).out).not.toContain(escape)
    const stats = ["stats", midFile("mid-ok")]
    const coloured = await kintsugi(stats, { isTerminal: true, env: { TERM: "xterm" } })
    expect(coloured.out).toContain(`${escape}1mErrors${escape}22m\n`)
    expect((await kintsugi(stats)).out).toContain("\nErrors\n")
  })

  it("names the command whose help explains a mistake [P1240 P1242]", async () => {
    const said = await kintsugi(["stats", "--nope", midFile("mid-ok")])
    expect([said.code, said.out]).toEqual([2, ""])
    expect(said.err).toMatch(/^error: .*--nope.*\n\(kintsugi stats --help explains it\)\n/m)
  })
})
