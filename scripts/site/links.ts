/** What is wrong with the links of a site that is built: VitePress looks for pages, but not for headings, nor for what it loads. */
import { readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { pathsWithin } from "../files.ts"

const decoded = (text: string): string =>
  text.replaceAll("&amp;", "&").replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<")

const attributes = (html: string, name: string): ReadonlyArray<string> =>
  [...html.matchAll(new RegExp(`<[a-z][^>]* ${name}="([^"]*)"`, "g"))].map(([, value = ""]) => decoded(value))

/** What is loaded when a page is looked at; what an `a` leads to is the choice of its reader. */
const loaded = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/<(?:script|link|img|iframe|source)\b[^>]* (?:src|href)="([^"]*)"/g)].map(([, url = ""]) => url)

const isElsewhere = (url: string): boolean => /^(?:[a-z]+:)?\/\//i.test(url)

/** Every link that leads nowhere, and everything that would be fetched from elsewhere, in the files below a folder. */
export const faults = (folder: string, base = "/"): ReadonlyArray<string> => {
  const paths = pathsWithin(folder)
  const files = new Set(paths)
  const texts = new Map(
    paths.filter((path) => /\.(?:html|css)$/.test(path)).map((path) => [path, readFileSync(join(folder, path), "utf8")])
  )
  const ids = new Map([...texts].map(([path, text]) => [path, new Set(attributes(text, "id"))]))
  const found: Array<string> = []

  const follow = (from: string, href: string): void => {
    const [path = "", anchor = ""] = href.split("#")
    const isRooted = path.startsWith("/")
    if (isRooted && !path.startsWith(base)) return void found.push(`${from}: ${href} is above ${base}`)
    const to = path === "" ? from : isRooted ? path.slice(base.length) : posix.join(posix.dirname(from), path)
    const file = [to, `${to}.html`, posix.join(to, "index.html")].find((one) => files.has(one))
    if (file === undefined) return void found.push(`${from}: ${href} leads nowhere`)
    if (anchor !== "" && ids.get(file)?.has(decodeURIComponent(anchor)) === false)
      found.push(`${from}: ${href} names no heading`)
  }

  for (const [path, text] of texts) {
    if (path.endsWith(".css")) {
      for (const [, url = ""] of text.matchAll(/url\(["']?([^"')]+)/g))
        if (isElsewhere(url)) found.push(`${path}: loads ${url}`)
      continue
    }
    for (const url of loaded(text)) if (isElsewhere(url)) found.push(`${path}: loads ${url}`)
    for (const href of new Set(attributes(text, "href"))) {
      if (!isElsewhere(href) && !/^(?:mailto|data):/.test(href)) follow(path, href)
    }
  }
  return found
}
