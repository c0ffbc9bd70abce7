/** What the tests of the whole need besides Node. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { apt, installPackage, onPath, type Tool } from "../../../scripts/provide.ts"
import { isInstalledIn } from "../../../scripts/sdk.ts"
import { folder as lab } from "../../durable-lab/src/database.ts"
import { postgres } from "../../durable-lab/src/postgres.ts"

/** The runtimes and the bundler: packages of npm that nothing else needs. */
const folder = "tools/system"

/** The one of its own package. */
const own = (name: string): string | undefined => {
  const path = join(root, folder, "node_modules/.bin", process.platform === "win32" ? `${name}.cmd` : name)
  return existsSync(path) ? path : undefined
}

/** The one of its own package, which is pinned; else any other. */
const fromPackage = (name: string): Tool => ({
  name,
  find: () => own(name) ?? onPath(name),
  install: installPackage(folder)
})

export const tools = {
  sdks: {
    name: "the official SDKs",
    find: () => (isInstalledIn("test/sdk") ? join(root, "test", "sdk", "node_modules") : undefined),
    install: installPackage("test/sdk")
  },
  durable: {
    name: "the clients of databases",
    find: () => (isInstalledIn(lab) ? join(root, lab, "node_modules") : undefined),
    install: installPackage(lab)
  },
  // any other would be another version
  oldestNode: { name: "the oldest Node", find: () => own("node"), install: installPackage(folder) },
  bun: { ...fromPackage("bun"), name: "Bun" },
  deno: { ...fromPackage("deno"), name: "Deno" },
  esbuild: fromPackage("esbuild"),
  chromium: {
    name: "Chromium",
    find: () => onPath("chromium", "chromium-browser", "google-chrome"),
    install: apt("chromium")
  },
  postgres
} satisfies Readonly<Record<string, Tool>>
