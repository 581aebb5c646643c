using System.Text.Json;
using System.Text.RegularExpressions;

namespace FastPort.Site.Preparing;

/// <summary>
/// Prepares the folder that docfx builds: the repository's pages at the same paths, the libraries, and what is generated from both. A
/// README.md becomes its folder's index.md.
/// </summary>
internal sealed partial class Pages
{
    private const string Home = "docs/site/home.md";
    private static readonly string[] Beside = ["CHANGELOG.md", "SECURITY.md", "conformance/README.md"];

    private readonly string _repository;
    private readonly string _target;
    private readonly Links _links;

    private Pages(string repository, string target)
    {
        _repository = repository;
        _target = target;
        _links = new Links(SitePath, Title);
    }

    /// <param name="repository">The root of the checkout.</param>
    /// <param name="target">An empty folder.</param>
    public static void Prepare(string repository, string target)
    {
        var pages = new Pages(repository, target);
        foreach (string page in Directory.EnumerateFiles(Path.Combine(repository, "docs"), "*", SearchOption.AllDirectories)
            .Select(file => Path.GetRelativePath(repository, file)).Concat(Beside))
        {
            if (pages.SitePath(page) is { } path)
            {
                pages.Copy(page, path);
            }
        }

        pages.Write("index.md", HomePart().Replace(pages.Read(Home), pages.PartOfReadme), Home);
        pages.Write("docs/toc.yml", new Navigation(pages.Read, pages.Title).Toc());
        Reference.Prepare(target);
        pages.Write("site.json", JsonSerializer.Serialize(new
        {
            _appName = $"FastPort {Libraries.Version}",
            _appFooter = $"FastPort {Libraries.Version}",
        }));
    }

    // Null for what is not on the site.
    private string? SitePath(string path)
    {
        bool isPage = path == "README.md" || Beside.Contains(path)
            || (path.StartsWith("docs/", StringComparison.Ordinal) && !path.StartsWith("docs/site/", StringComparison.Ordinal));
        return isPage && File.Exists(Path.Combine(_repository, path)) ? Index().Replace(path, "index.md") : null;
    }

    private void Copy(string page, string path)
    {
        if (page.EndsWith(".md", StringComparison.Ordinal))
        {
            string text = Read(page);
            Write(path, page == "docs/public-api.md" ? Reference.LinkTypes(text) : text, page);
        }
        else
        {
            string file = Path.Combine(_target, path);
            Directory.CreateDirectory(Path.GetDirectoryName(file)!);
            File.Copy(Path.Combine(_repository, page), file);
        }
    }

    // The introduction, up to the first block of code; the part under a heading; or from a paragraph that begins so to the next heading.
    private string PartOfReadme(Match match)
    {
        string start = match.Groups["start"].Value;
        string pattern = start == "introduction"
            ? @"\A# [^\n]*\n(?<part>.*?)(?=^```)"
            : $@"^(?:## {Regex.Escape(start)}\n(?<part>.*?)|(?<part>{Regex.Escape(start)}.*?))(?=^## |\z)";
        Match part = Regex.Match(Read("README.md"), pattern, RegexOptions.Singleline | RegexOptions.Multiline);
        return part.Success
            ? _links.Rewrite(part.Groups["part"].Value.Trim(), "README.md", Home)
            : throw new InvalidDataException($"{Home} shows the part '{start}' of README.md, which has none.");
    }

    private string Title(string page) => TitleLine().Match(Read(page)).Groups["title"].Value;

    private string Read(string page) => File.ReadAllText(Path.Combine(_repository, page));

    private void Write(string path, string text, string? from = null)
    {
        string file = Path.Combine(_target, path);
        Directory.CreateDirectory(Path.GetDirectoryName(file)!);
        File.WriteAllText(file, from is null ? text : _links.Rewrite(text, from, path));
    }

    [GeneratedRegex("<!-- README: (?<start>.*?) -->")]
    private static partial Regex HomePart();

    [GeneratedRegex("^# (?<title>.*)$", RegexOptions.Multiline)]
    private static partial Regex TitleLine();

    [GeneratedRegex(@"(?<=^|/)README\.md$")]
    private static partial Regex Index();
}
