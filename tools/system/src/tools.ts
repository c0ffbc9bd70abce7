/** What the tests of the whole need besides Node. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { apt, installFolder, onPath, packagesOf, type Tool } from "../../../scripts/provide.ts"
import { postgres } from "../../durable-lab/src/postgres.ts"
import { redis } from "../../durable-lab/src/redis.ts"

/** The runtimes and Playwright are packages of npm that nothing else needs. */
const folder = "tools/system"

/** Where its programs are. */
export const programs = join(root, folder, "node_modules/.bin")

const own = (name: string): string | undefined => {
  const path = join(programs, process.platform === "win32" ? `${name}.cmd` : name)
  return existsSync(path) ? path : undefined
}

/** The pinned one; else any other. */
const runtime = (program: string, name: string): Tool => ({
  name,
  find: () => own(program) ?? onPath(program),
  install: installFolder(folder)
})

export const tools = {
  // any other would be another version
  oldestNode: { name: "the oldest Node", find: () => own("node"), install: installFolder(folder) },
  bun: runtime("bun", "Bun"),
  deno: runtime("deno", "Deno"),
  playwright: packagesOf(folder, "Playwright"),
  chromium: {
    name: "Chromium",
    find: () => onPath("chromium", "chromium-browser", "google-chrome"),
    install: apt("chromium")
  },
  postgres,
  redis
} satisfies Readonly<Record<string, Tool>>
