-- One page of the book: Markdown as it stands in the repository, for a site.
--
--   links to pages of the book   .md -> .html, or -> #anchor in the one-file book
--   links to other files         become plain text: they are in the repository
--   <!-- ... -->                 the marks of `make sync` are dropped
--   ```cuda                      is coloured as C++
--   wide tables                  scroll in a box of their own
--
-- Variables: source (path of this page), pages (all pages, blank-separated),
-- mode ("site", or "book" for the one file that becomes the PDF).

local path = require 'pandoc.path'
local source, mode = '', 'site'
local pages = {}

-- "chapters/01-x.md" and "../docs/a.md" -> "docs/a.md"; nil when it leaves
-- the repository.
local function resolve(target)
  local parts = {}
  for part in path.directory(source):gmatch('[^/]+') do
    if part ~= '.' then parts[#parts + 1] = part end
  end
  for part in target:gmatch('[^/]+') do
    if part == '..' then
      if #parts == 0 then return nil end
      parts[#parts] = nil
    elseif part ~= '.' then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, '/')
end

-- The prefix that keeps a page's anchors apart in the one-file book.
local function prefix(page)
  return (page:gsub('%.md$', ''):gsub('[^%w]', '-')) .. '--'
end

local function read_variables(meta)
  source = pandoc.utils.stringify(meta.source)
  mode = pandoc.utils.stringify(meta.mode)
  for page in pandoc.utils.stringify(meta.pages):gmatch('%S+') do
    pages[page] = true
  end
end

local function link(element)
  local target = element.target
  if target:match('^%a[%w+.-]*:') then return nil end
  local file, anchor = target:match('^([^#]*)#?(.*)$')
  if file == '' then
    if mode == 'book' then element.target = '#' .. prefix(source) .. anchor end
    return element
  end
  local page = resolve(file)
  if not page or not pages[page] then return element.content end
  if mode == 'book' then
    if anchor == '' then anchor = 'top' end
    element.target = '#' .. prefix(page) .. anchor
  else
    element.target = file:gsub('%.md$', '.html') ..
        (anchor ~= '' and '#' .. anchor or '')
    element.target = element.target:gsub('README%.html', 'index.html')
  end
  return element
end

local function image(element)
  if mode == 'book' and not element.src:match('^%a[%w+.-]*:') then
    element.src = resolve(element.src)
  end
  return element
end

local function is_comment(element)
  return element.format:match('^html') and element.text:match('^%s*<!%-%-')
end

local function drop_comment(element)
  if is_comment(element) then return {} end
end

local function code_block(element)
  for i, class in ipairs(element.classes) do
    if class == 'cuda' or class == 'cu' then element.classes[i] = 'cpp' end
  end
  return element
end

local function wide_table(element)
  return pandoc.Div(element, pandoc.Attr('', { 'wide' },
    { { 'tabindex', '0' }, { 'role', 'group' }, { 'aria-label', 'Table' } }))
end

local function header(element)
  if mode == 'book' and element.identifier ~= '' then
    element.identifier = prefix(source) .. element.identifier
  end
  return element
end

-- The page's title is its first heading; the one-file book needs an anchor.
local function whole(document)
  for _, block in ipairs(document.blocks) do
    if block.t == 'Header' then
      document.meta.pagetitle = pandoc.utils.stringify(block.content)
      break
    end
  end
  if mode == 'book' then
    document.blocks:insert(1,
      pandoc.Div({}, pandoc.Attr(prefix(source) .. 'top')))
  end
  return document
end

return {
  { Meta = read_variables },
  {
    Link = link,
    Image = image,
    RawBlock = drop_comment,
    RawInline = drop_comment,
    CodeBlock = code_block,
    Table = wide_table,
    Header = header,
    Pandoc = whole,
  },
}
