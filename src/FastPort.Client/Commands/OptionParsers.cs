using System.Buffers;
using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using FastPort.Client.Load;

namespace FastPort.Client.Commands;

/// <summary>Parses option values; an invalid value is an error with the value and the allowed values.</summary>
internal static class OptionParsers
{
    private static readonly SearchValues<char> NumberCharacters = SearchValues.Create("0123456789.");
    private static readonly TimeSpan LongestDuration = TimeSpan.FromDays(7);

    /// <summary>An option with a time and its unit; null if it is not given.</summary>
    public static Option<TimeSpan?> Duration(string name, string description, TimeSpan minimum) => new(name)
    {
        Description = description,
        HelpName = "TIME",
        CustomParser = result =>
        {
            string text = Token(result);
            if (TryParseDuration(text, out TimeSpan value) && value >= minimum && value <= LongestDuration)
            {
                return value;
            }

            string range = minimum == TimeSpan.Zero ? "0s" : "1ms";
            result.AddError(
                $"{name} is '{text}'; give a number with a unit (ms, s, m, h), for example 500ms, 10s or 2m, from {range} to 168h.");
            return null;
        },
    };

    /// <summary>Parses a time such as 500ms, 10s, 1.5m or 1h.</summary>
    public static bool TryParseDuration(string text, out TimeSpan value)
    {
        value = default;
        int unitAt = text.AsSpan().IndexOfAnyExcept(NumberCharacters);
        if (unitAt <= 0
            || !double.TryParse(text.AsSpan(0, unitAt), NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double number))
        {
            return false;
        }

        double milliseconds = text[unitAt..] switch
        {
            "ms" => number,
            "s" => number * 1_000,
            "m" => number * 60_000,
            "h" => number * 3_600_000,
            _ => double.NaN,
        };
        if (!(milliseconds <= LongestDuration.TotalMilliseconds))
        {
            return false;
        }

        value = TimeSpan.FromMilliseconds(milliseconds);
        return true;
    }

    /// <summary>Reads an endpoint that a client can connect to.</summary>
    /// <param name="name">Name of the option or argument, for messages.</param>
    public static Func<ArgumentResult, string?> Endpoint(string name) => result => Endpoint(name, result);

    private static string? Endpoint(string name, ArgumentResult result)
    {
        string text = Token(result);
        if (!FastPort.Endpoint.TryParse(text, out Endpoint? endpoint, out string? problem))
        {
            result.AddError($"{name}: {problem}");
        }
        else if (endpoint.Scheme != "unix" && (endpoint.Scheme is not ("tcp" or "tls" or "ws" or "wss") || endpoint.Port <= 0))
        {
            result.AddError(
                $"{name} is '{text}'; write it as tcp://host:port, tls://host:port, ws://host:port/path or wss://host:port/path with a "
                + "port from 1 to 65535, for example tcp://127.0.0.1:6628, or as unix:///path.");
        }

        return text;
    }

    public static double? Rate(ArgumentResult result)
    {
        const double Highest = 100_000_000;
        string text = Token(result);
        if (double.TryParse(text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double rate)
            && rate is > 0 and <= Highest)
        {
            return rate;
        }

        result.AddError($"--rate is '{text}'; give messages per second, above 0 and at most 100000000.");
        return null;
    }

    public static LoadMode? Mode(ArgumentResult result)
    {
        switch (Token(result))
        {
            case "echo":
                return LoadMode.Echo;
            case "sink":
                return LoadMode.Sink;
            case "source":
                return LoadMode.Source;
            default:
                result.AddError($"--mode is '{Token(result)}'; give echo, sink or source.");
                return null;
        }
    }

    private static string Token(ArgumentResult result) => result.Tokens.Count == 0 ? string.Empty : result.Tokens[0].Value;
}
