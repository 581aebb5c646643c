using FastPort.Protocol.Tools.Contracts;

namespace FastPort.Protocol.Tools;

/// <summary>
/// Adds the methods of a project to its list of message types, or creates the list. No line of the list is removed or changed.
/// </summary>
public sealed class WriteMessageTypes : ContractTask
{
    private protected override bool Run(List<Contract> contracts, MessageTypeList list, List<Problem> problems)
    {
        if (!Report(problems.Where(problem => !problem.IsWarning)))
        {
            return false;
        }

        IEnumerable<string> lines = list.LinesWith(contracts.SelectMany(c => c.Services).SelectMany(s => s.Methods));
        File.WriteAllText(MessageTypes, string.Concat(lines.Select(line => line + "\n")));
        return true;
    }
}
