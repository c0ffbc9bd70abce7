/** Which pages the site has, where each is found, and what becomes of their links. Nothing here needs what the site is built with. */
import { existsSync } from "node:fs"
import { join, posix } from "node:path"
import { namesOf } from "../exports.ts"
import { pathsIn, read, root } from "../files.ts"
import { type Module, modules } from "../modules.ts"

/** A page of the repository, and its path on the site. */
export interface Page {
  readonly from: string
  readonly to: string
}

/** An entry of the sidebar, as VitePress takes it. */
export interface Item {
  readonly text: string
  readonly link: string
}

export interface Group {
  readonly text: string
  readonly items: Array<Item | Group>
  /** Whether it is closed at first. */
  readonly collapsed?: boolean
}

/** The four kinds of pages, with their sections of `llms.txt`: the pages of `lead` need no heading of their own. */
const kinds: ReadonlyArray<{
  readonly text: string
  readonly lead?: string
  readonly unfolded?: ReadonlyArray<string>
  readonly folded?: ReadonlyArray<string>
}> = [
  { text: "Tutorial", lead: "Start" },
  { text: "How-to guides", lead: "How to", folded: ["Run in production", "See and test", "Coming from"] },
  { text: "Explanation", unfolded: ["Build", "Recover"], folded: ["Decisions"] },
  { text: "Reference", lead: "Reference", folded: ["Held and measured", "More"] }
]

const README = "README.md"
const index = "docs/api.md"

/** What is written by hand; the pages of the modules come from their doc comments. */
export const pages = (): ReadonlyArray<Page> => [
  { from: README, to: "index.md" },
  ...pathsIn("docs", (path) => path.endsWith(".md")).map((from) => ({
    from,
    to: from === index ? "api/index.md" : from.slice("docs/".length)
  }))
]

/** The picture of the README, for a screen and for a phone. */
const heroes: ReadonlyArray<Page> = ["hero", "hero-narrow"].map((name) => ({
  from: `site/${name}.svg`,
  to: `${name}.svg`
}))

/** Pictures of the pages: they stand beside them on the site as in the repository. */
export const pictures = (): ReadonlyArray<Page> => [
  ...heroes,
  ...pathsIn("docs", (path) => path.endsWith(".svg")).map((from) => ({ from, to: from.slice("docs/".length) }))
]

/** Pages that were elsewhere before: an old address leads to the new one, at the same heading. */
export const moved: Readonly<Record<string, string>> = Object.fromEntries(
  ["eval", "fuzzing", "mutation", "scaling", "soak"].map((name) => [name, `reports/${name}`])
)

/** What stands at an old address. */
export const redirect = (base: string, to: string): string => {
  const target = JSON.stringify(`${base}${to}`)
  return `<!doctype html>
<meta charset="utf-8">
<title>Moved</title>
<link rel="canonical" href=${target}>
<meta http-equiv="refresh" content="1; url=${base}${to}">
<script>location.replace(${target} + location.hash)</script>
<p>This page has moved to <a href=${target}>${to}</a>.</p>
`
}

const linkTo = (to: string): string => `/${to.replace(/(?:^|(?<=\/))index\.md$|\.md$/, "")}`

const headingOf = (text: string): string => /^# (.+)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? ""

/** Sections of `llms.txt`: the pages in the order in which they are to be read, by short names. */
const sections = (text: string): ReadonlyArray<{ readonly title: string; readonly items: ReadonlyArray<Item> }> =>
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      title: section.split("\n")[0] ?? "",
      items: [...section.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, text = "", link = ""]) => ({ text, link }))
    }))

/**
 * The sidebar of all pages but those of the modules: the sections of `llms.txt` by the kinds of their pages, then sections of no kind.
 * Decisions, and pages that `llms.txt` leaves out, are sections too, so that no page is missing. The README is the home page, to which
 * the title leads.
 */
export const sidebarOf = (all: ReadonlyArray<Page>, llms: string, titleOf: (from: string) => string): Array<Group> => {
  const named = sections(llms).map(({ items, title }) => ({
    text: title,
    items: items.flatMap(({ link, text }) => {
      const page = link === README ? undefined : all.find(({ from }) => from === link)
      return page === undefined ? [] : [{ page, text }]
    })
  }))
  const listed = new Set([README, ...named.flatMap(({ items }) => items.map(({ page }) => page.from))])
  const left = all.filter(({ from }) => !listed.has(from)).map((page) => ({ page, text: titleOf(page.from) }))
  const isDecision = ({ page }: { readonly page: Page }) => page.from.startsWith("docs/decisions/")
  const groups = new Map<string | undefined, Array<Item>>(
    [
      ...named,
      { text: "More", items: left.filter((item) => !isDecision(item)) },
      { text: "Decisions", items: left.filter(isDecision) }
    ].map((group) => [group.text, group.items.map(({ page, text }) => ({ text, link: linkTo(page.to) }))])
  )
  /** Takes some sections out, as groups. */
  const take = (titles: Iterable<string | undefined>, collapsed: boolean): Array<Group> =>
    [...titles].flatMap((text = "") => {
      const items = groups.get(text) ?? []
      groups.delete(text)
      return items.length === 0 ? [] : [{ text, items, collapsed }]
    })
  const ofKinds = kinds.map(({ folded = [], lead, unfolded = [], text }) => ({
    text,
    items: [...take([lead], false).flatMap(({ items }) => items), ...take(unfolded, false), ...take(folded, true)]
  }))
  return [...ofKinds, ...take([...groups.keys()], false)].filter(({ items }) => items.length > 0)
}

export const sidebar = (): Array<Group> =>
  sidebarOf(pages(), read("llms.txt").text, (from) => headingOf(read(from).text))

/** Where the entries of a sidebar lead, in order. */
export const linksOf = (groups: ReadonlyArray<Item | Group>): ReadonlyArray<string> =>
  groups.flatMap((one) => ("link" in one ? [one.link] : linksOf(one.items)))

/** Modules with a page of their own; the page of another one has all names of the rest. */
export const references = (): ReadonlyArray<Module> => modules.filter(({ whole }) => whole === undefined)

/** Where the reference of a module is, below `api`: without the scope, which all of them share. */
export const referenceOf = (title: string): string => title.replace(/^@[^/]+\//, "")

/** The sidebar of the modules. */
export const apiSidebar = (): Array<Group> => {
  const groups = Map.groupBy(references(), ({ title }) => posix.dirname(title))
  return [
    { text: "API", items: [{ text: "Every exported name", link: "/api/" }] },
    ...[...groups].map(([text, members]) => ({
      text,
      items: members.map(({ title }) => ({ text: posix.basename(title), link: `/api/${referenceOf(title)}` }))
    }))
  ]
}

/** Where the repository is published, if `package.json` says so. */
export const repository = (): string | undefined => {
  const { repository }: { readonly repository?: string | { readonly url: string } } = JSON.parse(
    read("package.json").text
  )
  const url = typeof repository === "object" ? repository.url : repository
  return url?.replace(/^git\+/, "").replace(/\.git$/, "")
}

/**
 * A page with its links as the site has them. What is no page of the site is a file of the repository: linked where that is
 * published, else named beside the words, as a link would lead nowhere.
 */
export const relink = (text: string, page: Page, all: ReadonlyArray<Page>, published: string | undefined): string =>
  text.replaceAll(
    /^ *```[^]*?^ *```|(?:`[^`\n]*`(?!\]\())|\[((?:`[^`\n]*`|[^\]`])*)\]\(([^)\s]+)\)/gm,
    (whole: string, words: string | undefined, target: string | undefined) => {
      if (words === undefined || target === undefined || /^[a-z]+:|^#/.test(target)) return whole
      const [path = "", anchor] = target.split("#")
      const file = posix.join(posix.dirname(page.from), path)
      const other = all.find(({ from }) => from === file)
      if (other !== undefined) {
        const relative = posix.relative(posix.dirname(page.to), other.to)
        return `[${words}](${relative.startsWith(".") ? relative : `./${relative}`}${anchor === undefined ? "" : `#${anchor}`})`
      }
      if (!existsSync(join(root, file))) throw new Error(`${page.from} links to ${target}, which is not there`)
      const picture = pictures().find(({ from }) => from === file)
      if (picture !== undefined) return `[${words}](./${posix.relative(posix.dirname(page.to), picture.to)})`
      return published === undefined ? `${words} (\`${file}\`)` : `[${words}](${published}/blob/main/${file})`
    }
  )

/** The first lines of the README: what this is called, and what it is in one sentence. */
const opening = (text: string) => {
  const [, name = "", tagline = "", rest = ""] = /^# (.+)\n\n([^]+?)\n\n([^]*)$/.exec(text) ?? []
  return { name, tagline: tagline.replaceAll("\n", " "), rest }
}

/** What the site is made with besides its pages. */
export const settings = () => {
  const groups = sidebar()
  const { tagline } = opening(read(README).text)
  return { tagline, start: linksOf(groups)[0], sidebar: groups, api: apiSidebar(), published: repository() }
}

/** The README as a home page: its heading and its first paragraph are the hero, the rest stands below. */
const home = (text: string): string => {
  const { name, rest, tagline } = opening(text)
  const actions = sidebar()
    .slice(0, kinds.length)
    .map(({ items, text }, at) => {
      const [link] = linksOf(items)
      return at === 0 ? { theme: "brand", text: "Start here", link } : { theme: "alt", text, link }
    })
  const front = JSON.stringify({ name, tagline, actions })
  return `---\nlayout: home\nhero: ${front}\n---\n\n${rest.replaceAll('"site/hero', '"./hero')}`
}

/** What a module exports that is not ours: its own documentation says what it is. */
const foreignNames = (path: string): ReadonlySet<string> =>
  new Set(namesOf(path).flatMap(({ from, name }) => (from.startsWith("packages/") ? [] : [name])))

/** The list of every exported name, with each name leading to what is said of it. */
const linkNames = (text: string): string => {
  const own = new Map(references().map(({ path, title }) => [title, foreignNames(path)]))
  let from = ""
  let module = ""
  return text
    .split("\n")
    .map((line) => {
      const [, marks, heading = ""] = /^(##|###) (.+)$/.exec(line) ?? []
      if (marks === "##") from = heading
      if (marks !== undefined) module = marks === "##" ? "" : `${from}/${heading}`
      const foreign = own.get(module)
      if (foreign === undefined) return line
      const page = `./${referenceOf(module)}.md`
      return marks === undefined
        ? line.replace(/^- `(\w+)`/, (own, name: string) =>
            foreign.has(name) ? own : `- [\`${name}\`](${page}#${name.toLowerCase()})`
          )
        : `${marks} [${heading}](${page})`
    })
    .join("\n")
}

/** The texts of the site that are written by hand, by their paths on it. */
export const staged = (): ReadonlyMap<string, string> => {
  const all = pages()
  const published = repository()
  return new Map(
    all.map((page) => {
      const text = relink(read(page.from).text, page, all, published)
      return [page.to, page.from === README ? home(text) : page.from === index ? linkNames(text) : text]
    })
  )
}
