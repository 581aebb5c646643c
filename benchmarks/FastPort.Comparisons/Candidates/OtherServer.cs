namespace FastPort.Comparisons.Candidates;

/// <summary>A server that is not this repository's, named on the command line.</summary>
/// <param name="Name">Its name in the tables.</param>
/// <param name="Command">Executable and arguments.</param>
internal sealed record OtherServer(string Name, IReadOnlyList<string> Command);
