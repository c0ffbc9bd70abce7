/** The site in Chromium: it is as wide as the screen on all of them, can be read in light and dark, and what a reader presses works. */
import { join } from "node:path"
import { pathsWithin, root } from "../../../scripts/files.ts"
import type { Report } from "../../../scripts/report.ts"
import { isBuilt } from "../../../scripts/site/built.ts"
import { moved } from "../../../scripts/site/pages.ts"
import { serve } from "../../../scripts/site/serve.ts"
import { withBrowser } from "./browser.ts"
import { run } from "./ending.ts"
import { contrast } from "./site/contrast.ts"
import { reader } from "./site/reader.ts"
import { sidebar, widths } from "./site/widths.ts"

const dist = join(root, "site/dist")

const built = async (): Promise<void> => {
  if (isBuilt()) return
  const { code } = await run(process.execPath, [join(root, "scripts/site.ts")], { cwd: root, stdio: "inherit" })
  if (code !== 0) throw new Error("the site could not be built")
}

/** Addresses of all pages, without those that only lead to others. */
const pages = (): ReadonlyArray<string> =>
  pathsWithin(dist)
    .filter((path) => path.endsWith(".html") && !Object.hasOwn(moved, path.slice(0, -".html".length)))
    .map((path) => `/${path.replace(/(?:index)?\.html$/, "")}`)

/** All of it, with a Chromium that is there. */
export const site = async (chromium: string, report: Report): Promise<void> => {
  await built()
  const server = await serve(dist, "/", 0)
  try {
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("the site is not at a port")
    const url = `http://127.0.0.1:${address.port}`
    await withBrowser(chromium, report, async (visit) => {
      await widths(visit, report, url, pages())
      await sidebar(visit, report, url)
      await contrast(visit, report, url)
      await reader(visit, report, url)
    })
  } finally {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  }
}
