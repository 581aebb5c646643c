using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using Microsoft.Extensions.Configuration;

namespace FastPort.Configuration;

/// <summary>
/// One pass over the options of a section. The description names each option once, with its allowed values. If the configuration has the
/// key, the pass reads the value from it; otherwise the value stays. Then the pass checks the value. So an unreadable value gets the same
/// message as a value out of range, and keys without an option are reported as unknown. Without a configuration a pass only checks. Not
/// thread-safe.
/// </summary>
internal sealed class OptionSection
{
    private static readonly TimeSpan LongestTimeout = TimeSpan.FromDays(1);

    private readonly string _path;
    private readonly ICollection<string> _problems;
    private readonly IConfigurationSection? _configured;
    private readonly List<string> _known = [];

    private OptionSection(string path, ICollection<string> problems, IConfigurationSection? configured, bool checksTogether)
    {
        _path = path;
        _problems = problems;
        _configured = configured;
        ChecksTogether = checksTogether;
    }

    private delegate bool Parser<T>(string text, out T value);

    /// <summary>The section's path in the configuration, which messages name.</summary>
    public string Path => _path;

    /// <summary>The keys that the configuration has in this section; none without a configuration.</summary>
    public IEnumerable<string> Keys => _configured?.GetChildren().Select(static child => child.Key) ?? [];

    /// <summary>
    /// Whether options that must match each other are checked. False while a section is read and code may still set other options: then
    /// only the values in the section are checked, each on its own.
    /// </summary>
    public bool ChecksTogether { get; }

    /// <summary>Runs a pass.</summary>
    /// <param name="path">The section's path, for the messages.</param>
    /// <param name="problems">Receives a message for every unknown key and every value that is not allowed.</param>
    /// <param name="configured">The configuration with the values; null to only check.</param>
    /// <param name="describe">Names each option of the section and stores its value.</param>
    public static void Visit(
        string path, ICollection<string> problems, IConfigurationSection? configured, Action<OptionSection> describe) =>
        Visit(path, problems, configured, describe, checksTogether: true);

    /// <summary>Runs a pass; see <see cref="ChecksTogether"/>.</summary>
    public static void Visit(
        string path, ICollection<string> problems, IConfigurationSection? configured, Action<OptionSection> describe, bool checksTogether)
    {
        // The text is not shown: it may be a secret whose key was left out.
        if (configured is { Value.Length: > 0 })
        {
            problems.Add($"{path} is a single value; give a section with keys.{SetByEnvironment(path)}");
        }

        var section = new OptionSection(path, problems, configured, checksTogether);
        describe(section);
        foreach (IConfigurationSection child in configured?.GetChildren() ?? [])
        {
            if (!section._known.Contains(child.Key, StringComparer.OrdinalIgnoreCase))
            {
                problems.Add(
                    $"{child.Path} is not a known key; known keys: {string.Join(", ", section._known)}.{SetByEnvironment(child.Path)}");
            }
        }
    }

    // The environment may have variables of others that happen to have a section's name, such as DASHBOARD.
    private static string SetByEnvironment(string path) =>
        Environment.GetEnvironmentVariables().Keys.Cast<string>().FirstOrDefault(name => string.Equals(
            name.Replace("__", ":", StringComparison.Ordinal), path, StringComparison.OrdinalIgnoreCase)) is { } variable
            ? $" The environment variable {variable} sets it: unset or rename it."
            : string.Empty;

    /// <summary>Describes a nested section.</summary>
    /// <param name="key">Its key.</param>
    /// <param name="describe">Names each of its options.</param>
    public void Section(string key, Action<OptionSection> describe)
    {
        _known.Add(key);
        Visit($"{_path}:{key}", _problems, _configured?.GetSection(key), describe, ChecksTogether);
    }

    /// <summary>Accepts a section in this one that another component reads and checks.</summary>
    /// <param name="key">Its key.</param>
    public void Allow(string key) => _known.Add(key);

    /// <summary>A whole number.</summary>
    /// <param name="key">The option's key.</param>
    /// <param name="value">Its value without the configuration.</param>
    /// <param name="minimum">The smallest allowed value.</param>
    /// <param name="maximum">The largest allowed value.</param>
    /// <param name="allowed">The end of the message about a value that is not allowed. Defaults to naming both limits.</param>
    public int Number(string key, int value, int minimum, int maximum, string? allowed = null) =>
        Value(
            key,
            value,
            allowed ?? string.Create(CultureInfo.InvariantCulture, $"allowed: {minimum} to {maximum}"),
            static (string text, out int number) => int.TryParse(text, CultureInfo.InvariantCulture, out number),
            number => number >= minimum && number <= maximum);

    /// <summary>A number that may be omitted; an empty string means none.</summary>
    /// <param name="key">The option's key.</param>
    /// <param name="value">Its value without the configuration.</param>
    /// <param name="minimum">The smallest allowed value.</param>
    /// <param name="maximum">The largest allowed value.</param>
    /// <param name="allowed">The end of the message about a value that is not allowed.</param>
    public int? OptionalNumber(string key, int? value, int minimum, int maximum, string allowed) =>
        Value(
            key,
            value,
            allowed,
            static (string text, out int? number) =>
            {
                bool read = int.TryParse(text, CultureInfo.InvariantCulture, out int given);
                number = read ? given : null;
                return read || text.Length == 0;
            },
            number => number is null || (number >= minimum && number <= maximum));

    /// <summary>True or false.</summary>
    /// <param name="key">The option's key.</param>
    /// <param name="value">Its value without the configuration.</param>
    public bool Flag(string key, bool value) => Value(key, value, "allowed: true, false", bool.TryParse, static _ => true);

    /// <summary>A timeout of up to a day; zero turns it off.</summary>
    /// <param name="key">The option's key.</param>
    /// <param name="value">Its value without the configuration.</param>
    public TimeSpan Timeout(string key, TimeSpan value) =>
        Time(key, value, static time => time >= TimeSpan.Zero && time <= LongestTimeout, "allowed: 00:00:00 (off) to 1.00:00:00");

    /// <summary>A time within limits.</summary>
    /// <param name="key">The option's key.</param>
    /// <param name="value">Its value without the configuration.</param>
    /// <param name="minimum">The shortest allowed time.</param>
    /// <param name="maximum">The longest allowed time.</param>
    public TimeSpan Time(string key, TimeSpan value, TimeSpan minimum, TimeSpan maximum) =>
        Time(key, value, time => time >= minimum && time <= maximum, $"allowed: {minimum:c} to {maximum:c}");

    /// <summary>A time, such as <c>00:00:30</c>; <see cref="TryParseTime"/> documents the format.</summary>
    /// <param name="key">The option's key.</param>
    /// <param name="value">Its value without the configuration.</param>
    /// <param name="isAllowed">Whether a value is allowed.</param>
    /// <param name="allowed">The end of the message about a value that is not allowed.</param>
    public TimeSpan Time(string key, TimeSpan value, Predicate<TimeSpan> isAllowed, string allowed) =>
        Value(
            key,
            value,
            allowed,
            TryParseTime,
            isAllowed,
            ", written as hh:mm:ss, or as d.hh:mm:ss for a day or more");

    /// <summary>
    /// Reads a time written as <c>hh:mm:ss</c>, optionally followed by fractions of a second, and preceded by days for a day or more
    /// (<c>1.12:00:00</c>). Zero may be written as <c>0</c>. Any other single number, <c>hh:mm</c> and more than 23 hours are rejected,
    /// because they are easily misread.
    /// </summary>
    /// <param name="text">The text.</param>
    /// <param name="time">The time; zero if the text is not a time.</param>
    public static bool TryParseTime(string text, out TimeSpan time)
    {
        ArgumentNullException.ThrowIfNull(text);
        time = TimeSpan.Zero;

        // Two colons: "c" also takes days alone, and hours and minutes.
        return text.Trim() == "0"
            || (text.AsSpan().Count(':') == 2 && TimeSpan.TryParseExact(text, "c", CultureInfo.InvariantCulture, out time));
    }

    /// <summary>One of an enumeration's names.</summary>
    /// <param name="key">The option's key.</param>
    /// <param name="value">Its value without the configuration.</param>
    public TEnum Choice<TEnum>(string key, TEnum value)
        where TEnum : struct, Enum => Value(key, value, Names<TEnum>(), TryParseName, Enum.IsDefined);

    /// <summary>A list of an enumeration's names, at least one.</summary>
    /// <param name="key">The option's key.</param>
    /// <param name="value">Its value without the configuration.</param>
    public IList<TEnum> Choices<TEnum>(string key, IList<TEnum> value)
        where TEnum : struct, Enum
    {
        string allowed = $"give a list; {Names<TEnum>()}";
        IList<string> names = List(key, [.. value.Select(static one => $"{one}")], allowed);
        List<TEnum> choices = [];
        foreach (string name in names)
        {
            if (TryParseName(name, out TEnum choice) && Enum.IsDefined(choice))
            {
                choices.Add(choice);
            }
            else
            {
                Refuse(key, Shown(name), allowed);
            }
        }

        if (names.Count == 0)
        {
            Refuse(key, "empty", allowed);
        }

        return choices;
    }

    /// <summary>A string.</summary>
    /// <param name="key">The option's key.</param>
    /// <param name="value">Its value without the configuration.</param>
    /// <param name="isAllowed">Whether a value is allowed.</param>
    /// <param name="allowed">The end of the message about a value that is not allowed.</param>
    [return: NotNullIfNotNull(nameof(value))]
    public string? Text(string key, string? value, Predicate<string?> isAllowed, string allowed) =>
        Value(
            key,
            value,
            allowed,
            static (string text, out string? read) =>
            {
                read = text;
                return true;
            },
            isAllowed);

    /// <summary>A secret that must not appear in logs, such as a password or a token. Messages show its length instead.</summary>
    /// <param name="key">The option's key.</param>
    /// <param name="value">Its value without the configuration.</param>
    /// <param name="problem">
    /// Describes what is wrong with a value without showing any of it, as in "give 16 to 256 characters"; null if the value is allowed.
    /// </param>
    [return: NotNullIfNotNull(nameof(value))]
    public string? Secret(string key, string? value, Func<string?, string?> problem)
    {
        ArgumentNullException.ThrowIfNull(problem);
        string? read = Text(key, value, static _ => true, "give a string");
        if (problem(read) is { } sentence)
        {
            int length = read?.Length ?? 0;
            Refuse(key, length == 0 ? "empty" : string.Create(CultureInfo.InvariantCulture, $"not usable ({length} characters)"), sentence);
        }

        return read;
    }

    /// <summary>The values of a list, not checked. A configured list, even an empty one (<c>[]</c>), replaces the current list.</summary>
    /// <param name="key">The option's key.</param>
    /// <param name="value">The list without the configuration.</param>
    /// <param name="allowed">The end of the message about a value that is not a list.</param>
    public IList<string> List(string key, IList<string> value, string allowed)
    {
        _known.Add(key);
        if (_configured?.GetSection(key) is not { } list)
        {
            return value;
        }

        string?[] given = [.. list.GetChildren().Select(static item => item.Value)];
        if (list.Value is { Length: > 0 } text)
        {
            Refuse(key, Shown(text), allowed);
        }
        else if (given.Length == 0 && list.Value is not null)
        {
            // An empty JSON array is read as a key with an empty text; without the key, or with null, there is no value.
            return [];
        }

        if (given.Contains(null))
        {
            Refuse(key, "a list of sections", allowed);
        }

        return given.Length == 0 ? value : [.. given.OfType<string>()];
    }

    /// <summary>Adds a message about a value.</summary>
    /// <param name="key">The option.</param>
    /// <param name="shown">Its value.</param>
    /// <param name="allowed">The allowed values, as in "allowed: 1 to 5".</param>
    public void Refuse(string key, string shown, string allowed) => Report(key, $" is {shown}; {allowed}.");

    /// <summary>Adds a message that contains the option's value.</summary>
    /// <param name="key">The option.</param>
    /// <param name="problem">What is wrong, as a sentence.</param>
    public void Add(string key, string problem) => Report(key, $": {problem}");

    // Without ChecksTogether, an option that the section does not have is not reported.
    private void Report(string key, string problem)
    {
        if (ChecksTogether || _configured?.GetSection(key).Exists() == true)
        {
            _problems.Add($"{_path}:{key}{problem}");
        }
    }

    // The readable form follows the allowed values if the text is not readable.
    private T Value<T>(string key, T value, string allowed, Parser<T> parse, Predicate<T> isAllowed, string form = "")
    {
        _known.Add(key);
        if (_configured?.GetSection(key) is { } given)
        {
            if (given.Value is { } text)
            {
                if (!parse(text, out T read))
                {
                    Refuse(key, Shown(text), allowed + form);
                    return value;
                }

                value = read;
            }
            else if (given.GetChildren().Any())
            {
                Refuse(key, "a section", allowed);
                return value;
            }
        }

        if (!isAllowed(value))
        {
            Refuse(key, value is string or null
                ? Shown(value as string)
                : string.Create(CultureInfo.InvariantCulture, $"{value}"), allowed);
        }

        return value;
    }

    private static string Names<TEnum>()
        where TEnum : struct, Enum => $"allowed: {string.Join(", ", Enum.GetNames<TEnum>())}";

    // Only names are allowed. Enum.Parse would also read numbers and lists.
    private static bool TryParseName<TEnum>(string text, out TEnum choice)
        where TEnum : struct, Enum =>
        Enum.TryParse(text, ignoreCase: true, out choice)
            && string.Equals(choice.ToString(), text.Trim(), StringComparison.OrdinalIgnoreCase);

    private static string Shown(string? text) =>
        string.IsNullOrWhiteSpace(text) ? "empty" : $"'{text.Replace("\0", "\\0", StringComparison.Ordinal)}'";
}
