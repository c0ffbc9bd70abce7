/** Bundles the scenario for browsers, and plays it in headless Chromium. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buildSync } from "esbuild"

const page = '<!doctype html><meta charset="utf-8"><title>…</title><script type="module" src="/bundle.js"></script>'

export type Files = ReadonlyMap<string, { readonly type: string; readonly body: string }>

/** The page and its script. A module of Node in it is an error. */
export const bundle = (folder: string): Files => {
  const { outputFiles } = buildSync({
    absWorkingDir: folder,
    entryPoints: ["browser.ts"],
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2024",
    minify: true,
    write: false
  })
  return new Map([
    ["/", { type: "text/html", body: page }],
    ["/bundle.js", { type: "text/javascript", body: outputFiles[0]?.text ?? "" }]
  ])
}

/** With what Chromium starts here: without a screen, in a profile of its own, and with no other host than this one to ask. */
export const flags = (profile: string): ReadonlyArray<string> => [
  "--headless=new",
  // root has no sandbox
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
  `--user-data-dir=${profile}`
]

/** Shows a page, until `result` is settled or the browser ends by itself. */
export const show = async (chromium: string, url: string, result: Promise<string>): Promise<string> => {
  const profile = mkdtempSync(join(tmpdir(), "kintsugi-chromium-"))
  const child = spawn(chromium, [...flags(profile), url], { stdio: ["ignore", "ignore", "pipe"], detached: true })
  let said = ""
  child.stderr.on("data", (chunk) => (said += String(chunk)))
  const ended = new Promise<never>((_, reject) => {
    child.once("error", reject)
    child.once("exit", (code) =>
      reject(new Error(`Chromium ended with ${code} before the page did: ${said.slice(-2000)}`))
    )
  })
  try {
    return await Promise.race([result, ended, tooLong()])
  } finally {
    await stop(child)
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

const LIMIT = 120_000

const tooLong = () =>
  new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`the page said nothing within ${LIMIT / 1000} s`)), LIMIT).unref()
  })

/** With all the processes that it has started. */
export const stop = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.pid === undefined) return resolve()
    child.removeAllListeners("exit")
    child.once("exit", () => resolve())
    process.kill(-child.pid, "SIGKILL")
  })
