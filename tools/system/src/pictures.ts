/**
 * Looks at the pages of runs in headless Chromium: what is drawn, live pages, and texts that would like to be more than text.
 *
 *   npm run test:system -- pictures
 *   npm run test:system -- pictures --write    (keeps what is drawn now as the reference)
 *
 * References are in `tools/system/pictures`: the drawing without its texts, as fonts differ between machines, and compared with a
 * tolerance.
 */
import { Page } from "@kintsugi/view"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { hostile, hostileRun } from "../../../test/view/_support/hostile.ts"
import { long, references, written } from "../../../test/view/_support/references.ts"
import type { Report } from "../../../scripts/report.ts"
import { backend } from "./pictures/backend.ts"
import { drawn } from "./pictures/drawn.ts"
import { live } from "./pictures/live.ts"
import { named } from "./pictures/named.ts"
import { picture } from "./pictures/picture.ts"
import { harmless, unfolded } from "./pictures/hostile.ts"
import { silent } from "./pictures/silent.ts"
import { still } from "./pictures/still.ts"
import { withBrowser } from "./browser.ts"
import { temporaryFolder } from "./ending.ts"

/** All of it, with a Chromium that is there. */
export const pictures = async (chromium: string, report: Report, isWritten = false): Promise<void> => {
  using folder = temporaryFolder("pictures")
  /** Writes a page where the browser finds it. */
  const writePage = (name: string, html: string): string => {
    const path = join(folder.path, `${name}.html`)
    writeFileSync(path, html)
    return pathToFileURL(path).href
  }
  await withBrowser(chromium, report, async (visit) => {
    for (const scheme of ["light", "dark"] as const) {
      for (const [name, reference] of Object.entries(references)) {
        const url = writePage(name, Page.make(await Effect.runPromise(reference)))
        await visit({ what: `the page of ${name}, ${scheme}`, url, scheme }, async (page) => {
          await drawn(page)
          await picture(page, report, `${name}-${scheme}`, isWritten)
          if (scheme === "light") await named(page, report, name)
        })
      }
    }
    const mended = writePage("mended", Page.make(written("mended")))
    await visit({ what: "a page that would send", url: mended, expected: /Content Security Policy|csp/ }, (page) =>
      silent(page, report)
    )
    for (const [at, text] of hostile.entries()) {
      const url = writePage("hostile", Page.make(hostileRun(text), { title: text }))
      await visit({ what: `hostile text ${at + 1}`, url }, async (page) => {
        await harmless(page, report, at + 1)
        if (at === hostile.length - 1) await unfolded(page, report)
      })
    }
    await live(visit, report)
    await backend(visit, report, writePage)
    await still(visit, report, writePage)
    await visit({ what: "100,000 events", url: writePage("long", Page.make(long())) }, async (page) => {
      await drawn(page)
      await picture(page, report, "long-light", isWritten)
    })
  })
}
