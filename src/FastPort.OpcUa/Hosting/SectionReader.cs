using System.Globalization;
using Microsoft.Extensions.Configuration;

namespace FastPort.OpcUa.Hosting;

/// <summary>
/// One pass over the keys of a section. The caller names each option with where its value goes; a key that is missing leaves the option as
/// it is. Nothing throws: a value that cannot be read and a key that is no option are sentences, all of them together.
/// </summary>
internal sealed class SectionReader
{
    private readonly IConfigurationSection _section;
    private readonly ICollection<string> _problems;
    private readonly List<string> _known = [];

    private SectionReader(IConfigurationSection section, ICollection<string> problems)
    {
        _section = section;
        _problems = problems;
    }

    private delegate bool Parser<T>(string text, out T value);

    /// <summary>Runs a pass.</summary>
    /// <param name="section">The section.</param>
    /// <param name="problems">Receives a sentence for each unknown key and each value that cannot be read.</param>
    /// <param name="read">Names each option.</param>
    public static void Visit(IConfigurationSection section, ICollection<string> problems, Action<SectionReader> read)
    {
        if (section.Value is { Length: > 0 } text)
        {
            problems.Add($"{section.Path} is '{text}'; give a section with keys.");
        }

        var reader = new SectionReader(section, problems);
        read(reader);
        foreach (IConfigurationSection child in section.GetChildren())
        {
            if (!reader._known.Contains(child.Key, StringComparer.OrdinalIgnoreCase))
            {
                problems.Add($"{child.Path} is no known key; known are {string.Join(", ", reader._known)}.");
            }
        }
    }

    public void Section(string key, Action<SectionReader> read)
    {
        _known.Add(key);
        Visit(_section.GetSection(key), _problems, read);
    }

    public void Text(string key, Action<string> set) => Value(key, set, "give a text", static (string text, out string value) =>
    {
        value = text;
        return true;
    });

    public void Number(string key, Action<int> set) => Value(
        key, set, "give a number", static (string text, out int value) => int.TryParse(text, CultureInfo.InvariantCulture, out value));

    public void Flag(string key, Action<bool> set) => Value(key, set, "allowed are true, false", bool.TryParse);

    public void Time(string key, Action<TimeSpan> set) => Value(
        key,
        set,
        "give a time such as 00:00:30",
        static (string text, out TimeSpan value) => TimeSpan.TryParse(text, CultureInfo.InvariantCulture, out value));

    public void Choice<TEnum>(string key, Action<TEnum> set)
        where TEnum : struct, Enum => Value(key, set, Names<TEnum>(), TryParseName);

    /// <summary>A list of texts; it replaces the one that is there.</summary>
    public void List(string key, Action<IList<string>> set) => Items(
        key,
        set,
        "give a list of texts",
        static (string text, out string value) =>
        {
            value = text;
            return true;
        });

    /// <summary>A list of names; it replaces the one that is there.</summary>
    public void Choices<TEnum>(string key, Action<IList<TEnum>> set)
        where TEnum : struct, Enum => Items(key, set, $"give a list; {Names<TEnum>()}", TryParseName);

    private static string Names<TEnum>()
        where TEnum : struct, Enum => $"allowed are {string.Join(", ", Enum.GetNames<TEnum>())}";

    // Only names are allowed. Enum.Parse would also read numbers and lists.
    private static bool TryParseName<TEnum>(string text, out TEnum value)
        where TEnum : struct, Enum =>
        Enum.TryParse(text, ignoreCase: true, out value)
            && value.ToString().Equals(text.Trim(), StringComparison.OrdinalIgnoreCase);

    private void Value<T>(string key, Action<T> set, string allowed, Parser<T> parse)
    {
        _known.Add(key);
        IConfigurationSection given = _section.GetSection(key);
        if (given.Value is { } text)
        {
            if (parse(text, out T value))
            {
                set(value);
            }
            else
            {
                Refuse(given, $"'{text}'", allowed);
            }
        }
        else if (given.GetChildren().Any())
        {
            Refuse(given, "a section", allowed);
        }
    }

    private void Items<T>(string key, Action<IList<T>> set, string allowed, Parser<T> parse)
    {
        _known.Add(key);
        IConfigurationSection given = _section.GetSection(key);
        if (given.Value is { Length: > 0 } single)
        {
            Refuse(given, $"'{single}'", allowed);
        }

        List<T> items = [];
        foreach (IConfigurationSection child in given.GetChildren())
        {
            if (child.Value is { } text && parse(text, out T item))
            {
                items.Add(item);
            }
            else
            {
                Refuse(child, child.Value is null ? "a section" : $"'{child.Value}'", allowed);
            }
        }

        if (items.Count != 0)
        {
            set(items);
        }
    }

    private void Refuse(IConfigurationSection given, string shown, string allowed) =>
        _problems.Add($"{given.Path} is {shown}; {allowed}.");
}
