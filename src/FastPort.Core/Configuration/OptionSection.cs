using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using Microsoft.Extensions.Configuration;

namespace FastPort.Configuration;

/// <summary>
/// One pass over the options of a section. The description names each option once, with its allowed values. If the configuration has the
/// key, the pass reads the value from it; otherwise the value stays. Then the pass checks the value. So an unreadable value gets the same
/// message as a value out of range, and keys without an option are reported as unknown. Without a configuration a pass only checks.
/// </summary>
internal sealed class OptionSection
{
    private static readonly TimeSpan LongestTimeout = TimeSpan.FromDays(1);

    private readonly string _path;
    private readonly ICollection<string> _problems;
    private readonly IConfigurationSection? _configured;
    private readonly List<string> _known = [];

    private OptionSection(string path, ICollection<string> problems, IConfigurationSection? configured)
    {
        _path = path;
        _problems = problems;
        _configured = configured;
    }

    private delegate bool Parser<T>(string text, out T value);

    /// <summary>Runs a pass.</summary>
    /// <param name="path">The section's path, for the messages.</param>
    /// <param name="problems">Receives a message for every unknown key and every value that is not allowed.</param>
    /// <param name="configured">The configuration with the values; null to only check.</param>
    /// <param name="describe">Names each option of the section and stores its value.</param>
    public static void Visit(string path, ICollection<string> problems, IConfigurationSection? configured, Action<OptionSection> describe)
    {
        if (configured is { Value: { Length: > 0 } text })
        {
            problems.Add($"{path} is '{text}'; give a section with keys.");
        }

        var section = new OptionSection(path, problems, configured);
        describe(section);
        foreach (IConfigurationSection child in configured?.GetChildren() ?? [])
        {
            if (!section._known.Contains(child.Key, StringComparer.OrdinalIgnoreCase))
            {
                problems.Add($"{child.Path} is no known key; known are {string.Join(", ", section._known)}.");
            }
        }
    }

    public void Section(string key, Action<OptionSection> describe)
    {
        _known.Add(key);
        Visit($"{_path}:{key}", _problems, _configured?.GetSection(key), describe);
    }

    public int Number(string key, int value, int minimum, int maximum, string? allowed = null) =>
        Value(
            key,
            value,
            allowed ?? string.Create(CultureInfo.InvariantCulture, $"allowed are {minimum} to {maximum}"),
            static (string text, out int number) => int.TryParse(text, CultureInfo.InvariantCulture, out number),
            number => number >= minimum && number <= maximum);

    /// <summary>A number that may be omitted; an empty text means none.</summary>
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

    public bool Flag(string key, bool value) => Value(key, value, "allowed are true, false", bool.TryParse, static _ => true);

    /// <summary>A timeout of up to a day; zero turns it off.</summary>
    public TimeSpan Timeout(string key, TimeSpan value) =>
        Time(key, value, static time => time >= TimeSpan.Zero && time <= LongestTimeout, "allowed are 00:00:00 (off) to 1.00:00:00");

    public TimeSpan Time(string key, TimeSpan value, Predicate<TimeSpan> isAllowed, string allowed) =>
        Value(
            key,
            value,
            allowed,
            static (string text, out TimeSpan time) => TimeSpan.TryParse(text, CultureInfo.InvariantCulture, out time),
            isAllowed);

    public TEnum Choice<TEnum>(string key, TEnum value)
        where TEnum : struct, Enum =>
        Value(
            key,
            value,
            $"allowed are {string.Join(", ", Enum.GetNames<TEnum>())}",

            // Only names are allowed. Enum.Parse would also read numbers and lists.
            static (string text, out TEnum choice) =>
                Enum.TryParse(text, ignoreCase: true, out choice)
                    && string.Equals(choice.ToString(), text.Trim(), StringComparison.OrdinalIgnoreCase),
            Enum.IsDefined);

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

    /// <summary>The values of a list, not checked.</summary>
    public IList<string> List(string key, IList<string> value, string allowed)
    {
        _known.Add(key);
        if (_configured?.GetSection(key) is not { } list)
        {
            return value;
        }

        if (list.Value is { Length: > 0 } text)
        {
            Refuse(key, Shown(text), allowed);
        }

        // The configured list replaces the list set in code.
        string?[] given = [.. list.GetChildren().Select(static item => item.Value)];
        if (given.Contains(null))
        {
            Refuse(key, "a list of sections", allowed);
        }

        return given.Length == 0 ? value : [.. given.OfType<string>()];
    }

    /// <summary>Adds a message about a value.</summary>
    /// <param name="key">The option.</param>
    /// <param name="shown">Its value.</param>
    /// <param name="allowed">The allowed values, as in "allowed are 1 to 5".</param>
    public void Refuse(string key, string shown, string allowed) => _problems.Add($"{_path}:{key} is {shown}; {allowed}.");

    /// <summary>Adds a message that contains the option's value.</summary>
    public void Add(string key, string problem) => _problems.Add($"{_path}:{key}: {problem}");

    private T Value<T>(string key, T value, string allowed, Parser<T> parse, Predicate<T> isAllowed)
    {
        _known.Add(key);
        if (_configured?.GetSection(key) is { } given)
        {
            if (given.Value is { } text)
            {
                if (!parse(text, out T read))
                {
                    Refuse(key, Shown(text), allowed);
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

    private static string Shown(string? text) =>
        string.IsNullOrWhiteSpace(text) ? "empty" : $"'{text.Replace("\0", "\\0", StringComparison.Ordinal)}'";
}
