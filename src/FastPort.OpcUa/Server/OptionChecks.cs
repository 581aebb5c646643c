using System.Globalization;

namespace FastPort.OpcUa.Server;

/// <summary>Collects what is wrong with options: a sentence each, with key, value and what is allowed.</summary>
internal sealed class OptionChecks
{
    private readonly List<string> _problems = [];

    public IReadOnlyList<string> Problems => _problems;

    public void Number(string key, int value, int minimum, int maximum)
    {
        if (value < minimum || value > maximum)
        {
            Refuse(key, string.Create(CultureInfo.InvariantCulture, $"{value}"), $"allowed are {minimum} to {maximum}");
        }
    }

    public void Time(string key, TimeSpan value, TimeSpan minimum, TimeSpan maximum)
    {
        if (value < minimum || value > maximum)
        {
            Refuse(key, string.Create(CultureInfo.InvariantCulture, $"{value}"), $"allowed are {minimum:c} to {maximum:c}");
        }
    }

    public void Text(string key, string? value, Predicate<string> isAllowed, string allowed)
    {
        if (string.IsNullOrWhiteSpace(value) || !isAllowed(value))
        {
            Refuse(key, string.IsNullOrWhiteSpace(value) ? "empty" : $"'{value}'", allowed);
        }
    }

    public void Choices<T>(string key, IList<T> values)
        where T : struct, Enum
    {
        string allowed = $"give some of {string.Join(", ", Enum.GetNames<T>())}";
        if (values is not { Count: > 0 })
        {
            Refuse(key, "empty", allowed);
            return;
        }

        foreach (T value in values.Where(static value => !Enum.IsDefined(value)))
        {
            Refuse(key, value.ToString(), allowed);
        }
    }

    public void Refuse(string key, string shown, string allowed) =>
        _problems.Add($"{nameof(OpcUaServerOptions)}:{key} is {shown}; {allowed}.");
}
