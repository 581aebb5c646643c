using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;

namespace FastPort.Programs;

/// <summary>Options with a whole number; any other value is an error with the value and the allowed range.</summary>
internal static class WholeNumberOption
{
    /// <summary>An option with a default.</summary>
    public static Option<int> Create(string name, string description, string helpName, int defaultValue, int minimum, int maximum) =>
        new(name)
        {
            Description = description,
            HelpName = helpName,
            DefaultValueFactory = _ => defaultValue,
            CustomParser = result => Read(result, name, minimum, maximum) ?? defaultValue,
        };

    /// <summary>An option that is null if it is not given.</summary>
    public static Option<int?> Create(string name, string description, string helpName, int minimum, int maximum) => new(name)
    {
        Description = description,
        HelpName = helpName,
        CustomParser = result => Read(result, name, minimum, maximum),
    };

    private static int? Read(ArgumentResult result, string name, int minimum, int maximum)
    {
        string text = result.Tokens.Count == 0 ? string.Empty : result.Tokens[0].Value;
        if (int.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out int value) && value >= minimum
            && value <= maximum)
        {
            return value;
        }

        result.AddError(
            string.Create(CultureInfo.InvariantCulture, $"{name} is '{text}'; give a whole number from {minimum} to {maximum}."));
        return null;
    }
}
