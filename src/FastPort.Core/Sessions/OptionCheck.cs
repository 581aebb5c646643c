using System.Globalization;

namespace FastPort.Sessions;

/// <summary>Sentences about option values, all of one form: key, value, allowed range.</summary>
internal static class OptionCheck
{
    private static readonly TimeSpan LongestTimeout = TimeSpan.FromDays(1);

    public static void Range(ICollection<string> problems, string section, string key, long value, long minimum, long maximum)
    {
        if (value < minimum || value > maximum)
        {
            problems.Add(string.Create(CultureInfo.InvariantCulture, $"{section}:{key} is {value}; allowed are {minimum} to {maximum}."));
        }
    }

    public static void Timeout(ICollection<string> problems, string section, string key, TimeSpan value)
    {
        if (value < TimeSpan.Zero || value > LongestTimeout)
        {
            problems.Add($"{section}:{key} is {value:c}; allowed are 00:00:00 (off) to 1.00:00:00.");
        }
    }

    public static void Defined<TEnum>(ICollection<string> problems, string section, string key, TEnum value)
        where TEnum : struct, Enum
    {
        if (!Enum.IsDefined(value))
        {
            problems.Add($"{section}:{key} is {value}; allowed are {string.Join(", ", Enum.GetNames<TEnum>())}.");
        }
    }
}
