namespace FastPort.Security.Files;

/// <summary>A file of users, keys or a policy cannot be read or is wrong; the message has every problem.</summary>
/// <param name="what">What the file is: "policy".</param>
/// <param name="path">The file.</param>
/// <param name="problems">One sentence for each problem.</param>
/// <param name="inner">The cause. Defaults to none.</param>
internal sealed class SecurityFileException(string what, string path, IReadOnlyList<string> problems, Exception? inner = null)
    : Exception($"The {what} file {path} is not usable. {string.Join(" ", problems)}", inner)
{
    /// <summary>One sentence for each problem.</summary>
    public IReadOnlyList<string> Problems { get; } = problems;
}
